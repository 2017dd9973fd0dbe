// The example's own pass, as another compiler would add to the pipeline.

#ifndef DOWNSTREAM_REPORTNODES_H
#define DOWNSTREAM_REPORTNODES_H

#include "mlir/Pass/Pass.h"
#include <memory>

/// Prints a line for each operator of the graph: how many nodes it has, and how
/// many of their results have a static shape. Knows no operator by name.
std::unique_ptr<mlir::Pass> createReportNodes();

#endif // DOWNSTREAM_REPORTNODES_H
