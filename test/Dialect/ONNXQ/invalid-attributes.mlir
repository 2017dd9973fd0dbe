// Attributes of the dialect: where they stand, and what they hold.
// RUN: onnxq-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{has an attribute that the onnxq dialect doesn't know: "onnxq.thread"}}
module attributes {onnxq.thread = 4 : i64} {}

// -----

// expected-error @below {{expects "onnxq.threads" to be an integer, but got "four"}}
module attributes {onnxq.threads = "four"} {}

// -----

// expected-error @below {{expects "onnxq.target" to be a dictionary of strings: triple, cpu, features}}
module attributes {onnxq.target = {processor = "znver3"}} {}

// -----

// expected-error @below {{has "onnxq.threads", which is an attribute of modules}}
func.func private @threads() attributes {onnxq.threads = 4 : i64}

// -----

// expected-error @below {{has "onnxq.kernel", which is an attribute of functions}}
module attributes {onnxq.kernel = "linalg.exp"} {}

// -----

module attributes {onnxq.threads = 4 : i64, onnxq.target = {cpu = "", features = "", triple = ""}} {
  func.func private @kernel() attributes {onnxq.kernel = "linalg.exp"}
}
