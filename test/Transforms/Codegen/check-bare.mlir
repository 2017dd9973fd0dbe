// RUN: onnxq-opt %s --onnxq-check-bare="target=esp32c3" --split-input-file --verify-diagnostics

func.func @fine(%x: memref<4xf32>, %i: index) -> f32 {
  %v = memref.load %x[%i] : memref<4xf32>
  %y = math.floor %v : f32
  return %y : f32
}

// -----

func.func @function(%x: f32) -> f32 {
  // expected-error @below {{cannot be compiled for esp32c3: it computes exp of floats at run time}}
  %y = math.exp %x : f32
  return %y : f32
}

// -----

func.func @doubles(%x: f64) -> f64 {
  // expected-error @below {{cannot be compiled for esp32c3: it computes with floats of 64 bits}}
  %y = arith.addf %x, %x : f64
  return %y : f64
}

// -----

func.func @memory() {
  // expected-error @below {{cannot be compiled for esp32c3: it allocates memory at run time}}
  %y = memref.alloc() : memref<4xf32>
  return
}

// -----

func.func @check(%x: i1) {
  // expected-error @below {{it needs a check at run time: the index is out of range}}
  cf.assert %x, "the index is out of range"
  return
}
