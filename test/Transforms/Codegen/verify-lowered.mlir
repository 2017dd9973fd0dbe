// The gate behind the loops: what should have been lowered.
// RUN: onnxq-opt %s --split-input-file --verify-diagnostics --onnxq-verify-lowered

func.func @tensor() -> tensor<4xf32> {
  // expected-error @below {{is left where loops over buffers are expected}}
  %x = tensor.empty() : tensor<4xf32>
  return %x : tensor<4xf32>
}

// -----

func.func @requantize(%x: f32) -> i8 {
  %z = arith.constant 0 : i32
  // expected-error @below {{is left where loops over buffers are expected}}
  %y = onnxq.requantize %x zero_point %z in [0, 255] : f32 -> i8
  return %y : i8
}

// -----

// Loops over buffers pass.
func.func @loops(%x: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %v = memref.load %x[%i] : memref<4xf32>
    memref.store %v, %x[%i] : memref<4xf32>
  }
  return
}
