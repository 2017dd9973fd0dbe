// Sums up a profile by node and compares it with what the processor could do.

#include "Profile.h"
#include "OnnxQuant/Analysis/ModelInfo.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Support/TargetInfo.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace onnxquant;
using namespace onnxquant::cli;

/// Whether a value has 8-bit elements, or stands for such.
static bool isQuantized(mlir::Value value) {
  auto type = dyn_cast<mlir::ShapedType>(value.getType());
  if (type && type.getElementType().isInteger(8))
    return true;
  auto producer =
      dyn_cast_or_null<onnx::NodeOpInterface>(value.getDefiningOp());
  return producer && producer.getOnnxOpType() == "DequantizeLinear";
}

ProfiledNodes onnxquant::cli::collectNodes(mlir::ModuleOp module) {
  ProfiledNodes nodes;
  module.walk([&](mlir::Operation *op) {
    auto node = dyn_cast<onnx::NodeOpInterface>(op);
    auto name = op->getAttrOfType<mlir::StringAttr>(onnx::nodeNameAttr);
    if (!node || !name)
      return;
    ProfiledNode &entry = nodes[name.str()];
    entry.op = node.getOnnxOpType().str();
    entry.macs = countMacs(op);
    entry.isInteger =
        op->getNumOperands() > 0 && isQuantized(op->getOperand(0));
  });
  return nodes;
}

/// Multiply-accumulates of a cycle at most: two vectors of floats at a time, or
/// twice as many 8-bit integers (four times with instructions for their dot
/// products); none where it isn't known.
static std::optional<double> peakOf(const onnxquant::TargetOptions &target,
                                    bool isInteger) {
  TargetInfo info = getTargetInfo(target.triple, target.cpu, target.features);
  bool isKnown = info.hasFMA && (info.arch == TargetInfo::Arch::X86 ||
                                 info.arch == TargetInfo::Arch::AArch64);
  if (!isKnown)
    return std::nullopt;
  bool hasDot = info.hasAVX512VNNI || info.hasAVXVNNI || info.hasDotprod;
  return 2.0 * info.lanes() * (isInteger ? (hasDot ? 4 : 2) : 1);
}

Expected<Profile>
onnxquant::cli::readProfile(StringRef text, const ProfiledNodes &nodes,
                            const onnxquant::TargetOptions &target) {
  Profile profile;
  auto wrong = [](StringRef line) {
    return createStringError("the runner gave '" + line + "'");
  };
  SmallVector<StringRef> lines;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  if (lines.size() < 2 || lines[0].getAsDouble(profile.gigahertz) ||
      lines[1].getAsInteger(10, profile.runs) || profile.runs <= 0)
    return wrong(lines.empty() ? "" : lines.front());
  std::map<std::string, double> times;
  for (StringRef line : ArrayRef(lines).drop_front(2)) {
    auto [spent, rest] = line.split(' ');
    auto [calls, what] = rest.split(' ');
    int64_t nanoseconds;
    if (spent.getAsInteger(10, nanoseconds))
      return wrong(line);
    auto [node, kind] = what.split('\t');
    double share = nanoseconds * 1e-6;
    times[(node.empty() ? "(" + kind + ")" : node).str()] += share;
    profile.milliseconds += share;
  }
  for (const auto &[name, milliseconds] : times) {
    ProfileLine line;
    line.node = name;
    line.milliseconds = milliseconds;
    if (profile.milliseconds > 0)
      line.percent = 100 * milliseconds / profile.milliseconds;
    if (auto found = nodes.find(name); found != nodes.end()) {
      line.op = found->second.op;
      std::optional<double> peak = peakOf(target, found->second.isInteger);
      if (found->second.macs && milliseconds > 0) {
        line.gmacs = *found->second.macs / (milliseconds * 1e6);
        if (peak && profile.gigahertz > 0)
          line.percentOfPeak = 100 * *line.gmacs / (*peak * profile.gigahertz);
      }
    }
    profile.lines.push_back(line);
  }
  sort(profile.lines, [](const ProfileLine &a, const ProfileLine &b) {
    return std::tie(b.milliseconds, a.node) < std::tie(a.milliseconds, b.node);
  });
  return profile;
}

static void printProfileJson(const Profile &profile) {
  json::Array list;
  for (const ProfileLine &line : profile.lines) {
    json::Object object{{"node", json::fixUTF8(line.node)},
                        {"op", line.op},
                        {"ms", line.milliseconds},
                        {"percent", line.percent}};
    if (line.gmacs)
      object["gmac_s"] = *line.gmacs;
    if (line.percentOfPeak)
      object["percent_of_peak"] = *line.percentOfPeak;
    list.push_back(std::move(object));
  }
  json::Object root{{"nodes", std::move(list)},
                    {"total_ms", profile.milliseconds},
                    {"clock_ghz", profile.gigahertz},
                    {"runs", profile.runs}};
  outs() << formatv("{0:2}", json::Value(std::move(root))) << "\n";
}

void onnxquant::cli::printProfile(const Profile &profile, bool json) {
  if (json)
    return printProfileJson(profile);
  outs() << format("%.3f ms a run in %lld nodes, %lld runs, clock %.2f GHz\n",
                   profile.milliseconds,
                   static_cast<long long>(profile.lines.size()),
                   static_cast<long long>(profile.runs), profile.gigahertz);
  outs() << "      ms      %  GMAC/s  % of peak  op                node\n";
  auto column = [](std::optional<double> value, unsigned width) {
    std::string text;
    raw_string_ostream os(text);
    if (value)
      os << format("%.1f", *value);
    return std::string(width > text.size() ? width - text.size() : 0, ' ') +
           text;
  };
  for (const ProfileLine &line : profile.lines)
    outs() << format("%8.3f %6.1f", line.milliseconds, line.percent)
           << column(line.gmacs, 8) << column(line.percentOfPeak, 11) << "  "
           << left_justify(line.op, 16) << "  " << line.node << "\n";
}
