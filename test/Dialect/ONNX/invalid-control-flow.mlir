// RUN: onnxq-opt %s --split-input-file --verify-diagnostics

// If C1
func.func @f(%c: tensor<2xi1>, %x: tensor<4xf32>, %n: tensor<4xi32>) {
  // expected-error @+1 {{expects a condition with one element, but got 'tensor<2xi1>' (C1)}}
  %y = "onnx.If"(%c) ({
  onnx.Yield %x : tensor<4xf32>
  }, {
    onnx.Yield %x : tensor<4xf32>
  }) : (tensor<2xi1>) -> tensor<4xf32>
  return
}

// -----

// If C2
func.func @f(%c: tensor<i1>, %x: tensor<4xf32>, %n: tensor<4xi32>) {
  // expected-error @+1 {{expects then_branch without arguments that ends in onnx.Yield (C2)}}
  %y = "onnx.If"(%c) ({
  ^bb0(%a: tensor<f32>):
    onnx.Yield %x : tensor<4xf32>
  }, {
    onnx.Yield %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return
}

// -----

// If C3
func.func @f(%c: tensor<i1>, %x: tensor<4xf32>, %n: tensor<4xi32>) {
  // expected-error @+1 {{expects else_branch that yields 1 values, but got 2 (C3)}}
  %y = "onnx.If"(%c) ({
  onnx.Yield %x : tensor<4xf32>
  }, {
    onnx.Yield %x, %x : tensor<4xf32>, tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return
}

// -----

// If C4
func.func @f(%c: tensor<i1>, %x: tensor<4xf32>, %n: tensor<4xi32>) {
  // expected-error @+1 {{expects then_branch's value 0 to have one element type, but got 'tensor<4xf32>' and 'tensor<4xi32>' (C4)}}
  %y = "onnx.If"(%c) ({
  onnx.Yield %n : tensor<4xi32>
  }, {
    onnx.Yield %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return
}

// -----

// Loop C1
func.func @f(%m: tensor<2xi64>, %c: tensor<i1>, %init: tensor<4xf32>, %x: tensor<4xf32>, %n: tensor<4xi32>) {
  // expected-error @+1 {{expects a limit and a condition with one element each, but got 'tensor<2xi64>' (C1)}}
  %y:2 = "onnx.Loop"(%m, %c, %init) ({
  ^bb0(%i: tensor<i64>, %cond: tensor<i1>, %s: tensor<4xf32>):
    onnx.Yield %cond, %x, %x : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }) : (tensor<2xi64>, tensor<i1>, tensor<4xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return
}

// -----

// Loop C2
func.func @f(%m: tensor<i64>, %c: tensor<i1>, %init: tensor<4xf32>, %x: tensor<4xf32>, %n: tensor<4xi32>) {
  // expected-error @+1 {{expects a body with an i64, a bool and 1 more arguments that ends in onnx.Yield (C2)}}
  %y:2 = "onnx.Loop"(%m, %c, %init) ({
  ^bb0(%i: tensor<i32>, %cond: tensor<i1>, %s: tensor<4xf32>):
    onnx.Yield %cond, %x, %x : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }) : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return
}

// -----

// Loop C2, an argument too many
func.func @f(%m: tensor<i64>, %c: tensor<i1>, %init: tensor<4xf32>, %x: tensor<4xf32>, %n: tensor<4xi32>) {
  // expected-error @+1 {{expects a body with an i64, a bool and 1 more arguments that ends in onnx.Yield (C2)}}
  %y:2 = "onnx.Loop"(%m, %c, %init) ({
  ^bb0(%i: tensor<i64>, %cond: tensor<i1>, %s: tensor<4xf32>, %t: tensor<f32>):
    onnx.Yield %cond, %x, %x : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }) : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return
}

// -----

// Loop C3
func.func @f(%m: tensor<i64>, %c: tensor<i1>, %init: tensor<4xf32>, %x: tensor<4xf32>, %n: tensor<4xi32>) {
  // expected-error @+1 {{expects at least 1 results and one yielded value more, but got 2 results and 2 yielded values (C3)}}
  %y:2 = "onnx.Loop"(%m, %c, %init) ({
  ^bb0(%i: tensor<i64>, %cond: tensor<i1>, %s: tensor<4xf32>):
    onnx.Yield %cond, %x : tensor<i1>, tensor<4xf32>
  }) : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return
}

// -----

// Loop C4
func.func @f(%m: tensor<i64>, %c: tensor<i1>, %init: tensor<4xf32>, %x: tensor<4xf32>, %n: tensor<4xi32>) {
  // expected-error @+1 {{expects the body to yield a bool condition, but got 'tensor<4xf32>' (C4)}}
  %y:2 = "onnx.Loop"(%m, %c, %init) ({
  ^bb0(%i: tensor<i64>, %cond: tensor<i1>, %s: tensor<4xf32>):
    onnx.Yield %x, %x, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }) : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return
}

// -----

// Loop C5
func.func @f(%m: tensor<i64>, %c: tensor<i1>, %init: tensor<4xf32>, %x: tensor<4xf32>, %n: tensor<4xi32>) {
  // expected-error @+1 {{expects carried value 0 to have one element type, but got 'tensor<4xf32>' and 'tensor<4xi32>' (C5)}}
  %y:2 = "onnx.Loop"(%m, %c, %init) ({
  ^bb0(%i: tensor<i64>, %cond: tensor<i1>, %s: tensor<4xf32>):
    onnx.Yield %cond, %n, %x : tensor<i1>, tensor<4xi32>, tensor<4xf32>
  }) : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return
}

// -----

// Loop C5, the argument
func.func @f(%m: tensor<i64>, %c: tensor<i1>, %init: tensor<4xf32>, %x: tensor<4xf32>, %n: tensor<4xi32>) {
  // expected-error @+1 {{expects carried value 0 to have one element type, but got 'tensor<4xf32>' and 'tensor<4xf16>' (C5)}}
  %y:2 = "onnx.Loop"(%m, %c, %init) ({
  ^bb0(%i: tensor<i64>, %cond: tensor<i1>, %s: tensor<4xf16>):
    onnx.Yield %cond, %x, %x : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }) : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return
}

// -----

// Loop C6
func.func @f(%m: tensor<i64>, %c: tensor<i1>, %init: tensor<4xf32>, %x: tensor<4xf32>, %n: tensor<4xi32>) {
  // expected-error @+1 {{expects scan output 0 to have one element type, but got 'tensor<4xi32>' and 'tensor<*xf32>' (C6)}}
  %y:2 = "onnx.Loop"(%m, %c, %init) ({
  ^bb0(%i: tensor<i64>, %cond: tensor<i1>, %s: tensor<4xf32>):
    onnx.Yield %cond, %x, %n : tensor<i1>, tensor<4xf32>, tensor<4xi32>
  }) : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return
}

// -----

// Scan C1
func.func @f(%zero: tensor<2xf32>, %a: tensor<3x2xf32>, %b: tensor<3x2xf32>, %n: tensor<2xi32>) {
  // expected-error @+1 {{expects num_scan_inputs between 1 and 3, but got 4 (C1)}}
  %y:2 = "onnx.Scan"(%zero, %a, %b) ({
  ^bb0(%s: tensor<2xf32>, %e: tensor<2xf32>, %g: tensor<2xf32>):
    onnx.Yield %s, %e : tensor<2xf32>, tensor<2xf32>
  }) {num_scan_inputs = 4 : si64} : (tensor<2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> (tensor<2xf32>, tensor<*xf32>)
  return
}

// -----

// Scan C2
func.func @f(%zero: tensor<2xf32>, %a: tensor<3x2xf32>, %b: tensor<3x2xf32>, %n: tensor<2xi32>) {
  // expected-error @+1 {{expects a body with 3 arguments that ends in onnx.Yield, but got 2 arguments (C2)}}
  %y:2 = "onnx.Scan"(%zero, %a, %b) ({
  ^bb0(%s: tensor<2xf32>, %e: tensor<2xf32>):
    onnx.Yield %s, %e : tensor<2xf32>, tensor<2xf32>
  }) {num_scan_inputs = 2 : si64} : (tensor<2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> (tensor<2xf32>, tensor<*xf32>)
  return
}

// -----

// Scan C3
func.func @f(%zero: tensor<2xf32>, %a: tensor<3x2xf32>, %b: tensor<3x2xf32>, %n: tensor<2xi32>) {
  // expected-error @+1 {{expects at least 1 results and as many yielded values, but got 2 results and 1 yielded values (C3)}}
  %y:2 = "onnx.Scan"(%zero, %a, %b) ({
  ^bb0(%s: tensor<2xf32>, %e: tensor<2xf32>, %g: tensor<2xf32>):
    onnx.Yield %s : tensor<2xf32>
  }) {num_scan_inputs = 2 : si64} : (tensor<2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> (tensor<2xf32>, tensor<*xf32>)
  return
}

// -----

// Scan C4
func.func @f(%zero: tensor<2xf32>, %a: tensor<3x2xf32>, %b: tensor<3x2xf32>, %n: tensor<2xi32>) {
  // expected-error @+1 {{expects 2 entries in scan_input_axes, but got 1 (C4)}}
  %y:2 = "onnx.Scan"(%zero, %a, %b) ({
  ^bb0(%s: tensor<2xf32>, %e: tensor<2xf32>, %g: tensor<2xf32>):
    onnx.Yield %s, %e : tensor<2xf32>, tensor<2xf32>
  }) {num_scan_inputs = 2 : si64, scan_input_axes = [0]} : (tensor<2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> (tensor<2xf32>, tensor<*xf32>)
  return
}

// -----

// Scan C5
func.func @f(%zero: tensor<2xf32>, %a: tensor<3x2xf32>, %b: tensor<3x2xf32>, %n: tensor<2xi32>) {
  // expected-error @+1 {{expects scan_output_directions of 0 or 1, but got 2 (C5)}}
  %y:2 = "onnx.Scan"(%zero, %a, %b) ({
  ^bb0(%s: tensor<2xf32>, %e: tensor<2xf32>, %g: tensor<2xf32>):
    onnx.Yield %s, %e : tensor<2xf32>, tensor<2xf32>
  }) {num_scan_inputs = 2 : si64, scan_output_directions = [2]} : (tensor<2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> (tensor<2xf32>, tensor<*xf32>)
  return
}

// -----

// Scan C6
func.func @f(%zero: tensor<2xf32>, %a: tensor<3x2xf32>, %b: tensor<3x2xf32>, %n: tensor<2xi32>) {
  // expected-error @+1 {{expects the axis of scan input 1 within rank 2, but got 2 (C6)}}
  %y:2 = "onnx.Scan"(%zero, %a, %b) ({
  ^bb0(%s: tensor<2xf32>, %e: tensor<2xf32>, %g: tensor<2xf32>):
    onnx.Yield %s, %e : tensor<2xf32>, tensor<2xf32>
  }) {num_scan_inputs = 2 : si64, scan_input_axes = [0, 2]} : (tensor<2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> (tensor<2xf32>, tensor<*xf32>)
  return
}

// -----

// Scan C6, an output
func.func @f(%zero: tensor<2xf32>, %a: tensor<3x2xf32>, %b: tensor<3x2xf32>, %n: tensor<2xi32>) {
  // expected-error @+1 {{expects the axis of scan output 0 within rank 2, but got -3 (C6)}}
  %y:2 = "onnx.Scan"(%zero, %a, %b) ({
  ^bb0(%s: tensor<2xf32>, %e: tensor<2xf32>, %g: tensor<2xf32>):
    onnx.Yield %s, %e : tensor<2xf32>, tensor<2xf32>
  }) {num_scan_inputs = 2 : si64, scan_output_axes = [-3]} : (tensor<2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> (tensor<2xf32>, tensor<?x?xf32>)
  return
}

// -----

// Scan C7
func.func @f(%zero: tensor<2xf32>, %a: tensor<3x2xf32>, %b: tensor<4x2xf32>, %n: tensor<2xi32>) {
  // expected-error @+1 {{expects scan inputs of one size along their axes, but got 3 and 4 (C7)}}
  %y:2 = "onnx.Scan"(%zero, %a, %b) ({
  ^bb0(%s: tensor<2xf32>, %e: tensor<2xf32>, %g: tensor<2xf32>):
    onnx.Yield %s, %e : tensor<2xf32>, tensor<2xf32>
  }) {num_scan_inputs = 2 : si64} : (tensor<2xf32>, tensor<3x2xf32>, tensor<4x2xf32>) -> (tensor<2xf32>, tensor<*xf32>)
  return
}

// -----

// Scan C8
func.func @f(%zero: tensor<2xf32>, %a: tensor<3x2xf32>, %b: tensor<3x2xf32>, %n: tensor<2xi32>) {
  // expected-error @+1 {{expects carried value 0 to have one element type, but got 'tensor<2xf32>' and 'tensor<2xi32>' (C8)}}
  %y:2 = "onnx.Scan"(%zero, %a, %b) ({
  ^bb0(%s: tensor<2xf32>, %e: tensor<2xf32>, %g: tensor<2xf32>):
    onnx.Yield %n, %e : tensor<2xi32>, tensor<2xf32>
  }) {num_scan_inputs = 2 : si64} : (tensor<2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> (tensor<2xf32>, tensor<*xf32>)
  return
}

// -----

// Scan C8, an input
func.func @f(%zero: tensor<2xf32>, %a: tensor<3x2xf32>, %b: tensor<3x2xf32>, %n: tensor<2xi32>) {
  // expected-error @+1 {{expects scan input 1 to have one element type, but got 'tensor<3x2xf32>' and 'tensor<2xi32>' (C8)}}
  %y:2 = "onnx.Scan"(%zero, %a, %b) ({
  ^bb0(%s: tensor<2xf32>, %e: tensor<2xf32>, %g: tensor<2xi32>):
    onnx.Yield %s, %e : tensor<2xf32>, tensor<2xf32>
  }) {num_scan_inputs = 2 : si64} : (tensor<2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> (tensor<2xf32>, tensor<*xf32>)
  return
}

// -----

// Scan C8, an output
func.func @f(%zero: tensor<2xf32>, %a: tensor<3x2xf32>, %b: tensor<3x2xf32>, %n: tensor<2xi32>) {
  // expected-error @+1 {{expects scan output 0 to have one element type, but got 'tensor<2xi32>' and 'tensor<*xf32>' (C8)}}
  %y:2 = "onnx.Scan"(%zero, %a, %b) ({
  ^bb0(%s: tensor<2xf32>, %e: tensor<2xf32>, %g: tensor<2xf32>):
    onnx.Yield %s, %n : tensor<2xf32>, tensor<2xi32>
  }) {num_scan_inputs = 2 : si64} : (tensor<2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> (tensor<2xf32>, tensor<*xf32>)
  return
}
