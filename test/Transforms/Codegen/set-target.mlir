// The target stands on the module.
// RUN: onnxq-opt %s "--onnxq-set-target=triple=aarch64-unknown-linux-gnu cpu=generic features=+neon" | FileCheck %s

// CHECK: module attributes {onnxq.target = {cpu = "generic", features = "+neon", triple = "aarch64-unknown-linux-gnu"}}
module {}
