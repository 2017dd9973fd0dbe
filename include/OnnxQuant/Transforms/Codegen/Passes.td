// Passes from linalg and buffers down to the LLVM dialect.

#ifndef ONNXQUANT_TRANSFORMS_CODEGEN_PASSES_TD
#define ONNXQUANT_TRANSFORMS_CODEGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

def SetTarget : Pass<"onnxq-set-target", "::mlir::ModuleOp"> {
  let summary = "write on the module what code it is for";
  let description = [{
    The module carries its target to whoever generates code from it.

    ```mlir
    module {}
    // becomes
    module attributes {onnxq.target = {cpu = "x86-64-v3", features = "", triple = "x86_64-unknown-linux-gnu"}} {}
    ```
  }];
  let options = [
    Option<"triple", "triple", "std::string", "", "LLVM's name of the system">,
    Option<"cpu", "cpu", "std::string", "", "LLVM's name of the processor">,
    Option<"features", "features", "std::string", "",
      "features with + or -, separated by commas">,
  ];
}

def FuseElementwise : Pass<"onnxq-fuse-elementwise", "::mlir::ModuleOp"> {
  let summary = "compute elements where they are used";
  let description = [{
    Fuses a `linalg.generic` that computes element by element into its only
    user, if that is such an op too and asks for every element once. Ops that
    reduce, and those that repeat elements of a computation, read it from
    memory: they would compute elements again and again. An op that makes floats
    of bytes is repeated for each of its users, and goes into reductions too:
    the floats, four times as large, are never written.

    ```mlir
    %b = linalg.generic {...} ins(%a) outs(%e) { ... math.exp ... }
    %c = linalg.generic {...} ins(%b) outs(%e) { ... arith.negf ... }
    // becomes
    %c = linalg.generic {...} ins(%a) outs(%e) { ... math.exp ... arith.negf ... }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"bare", "bare", "bool", "false",
      "for microcontrollers: what makes wider integers of narrow ones is "
      "repeated too, and tables are read where their entries are used">,
  ];
}

def MergeEqual : Pass<"onnxq-merge-equal", "::mlir::ModuleOp"> {
  let summary = "compute once what is computed again";
  let description = [{
    Does what MLIR's `cse` does, which hashes an op without its regions and
    would compare all elementwise ops of the same operands in pairs. Their
    regions are hashed, too.

    ```mlir
    %b = linalg.generic {...} ins(%a) outs(%e) { ... math.exp ... }
    %c = linalg.generic {...} ins(%a) outs(%e) { ... math.exp ... }
    // becomes
    %b = linalg.generic {...} ins(%a) outs(%e) { ... math.exp ... }
    ```
  }];
}

def GroupReaders : Pass<"onnxq-group-readers", "::mlir::ModuleOp"> {
  let summary = "bound the uses that bufferization looks at";
  let description = [{
    For each use of a tensor, bufferization goes through all others. Inputs and
    constants, which nothing writes to, are read through several tensors if they
    have more than 64 uses, and so many users of an empty tensor get one each.

    ```mlir
    %1 = linalg.generic {...} ins(%input) outs(%empty) ...
    %2 = linalg.generic {...} ins(%input) outs(%empty) ...
    // becomes
    %buffer = bufferization.to_buffer %input read_only : tensor<4xf32> to memref<4xf32>
    %group = bufferization.to_tensor %buffer restrict : memref<4xf32> to tensor<4xf32>
    %empty1 = tensor.empty() : tensor<4xf32>
    %1 = linalg.generic {...} ins(%group) outs(%empty1) ...
    %empty2 = tensor.empty() : tensor<4xf32>
    %2 = linalg.generic {...} ins(%group) outs(%empty2) ...
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def CopyStridedCasts : Pass<"onnxq-copy-strided-casts", "::mlir::ModuleOp"> {
  let summary = "copy where a cast only claims that a buffer is contiguous";
  let description = [{
    Bufferization casts the view that a slice of dynamic sizes gives to the
    contiguous buffer that a function returns, although its elements lie apart.
    Such casts become copies.

    ```mlir
    %r = memref.cast %view : memref<?x?xf32, strided<[?, 1]>> to memref<?x?xf32>
    // becomes
    %r = memref.alloc(%rows, %columns) : memref<?x?xf32>
    memref.copy %view, %r
      : memref<?x?xf32, strided<[?, 1]>> to memref<?x?xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect"];
  let statistics = [
    Statistic<"numCopied", "copied", "Casts replaced by a copy">,
  ];
}

def HoistChecks : Pass<"onnxq-hoist-checks", "::mlir::ModuleOp"> {
  let summary = "move checks up to where what they look at is known";
  let description = [{
    A size that only a type states is checked at run time. Canonicalization may
    have made it the size of a loop that stands before the check, so that the
    loop would leave its buffers first. Each `cf.assert` goes right after the
    last value that it needs, together with the ops that compute its condition.

    ```mlir
    linalg.exp ins(%a : memref<?xf32>) outs(%b : memref<10xf32>)
    %fits = arith.cmpi eq, %size, %c10 : index
    cf.assert %fits, "node 'exp': ..."
    // becomes
    %fits = arith.cmpi eq, %size, %c10 : index
    cf.assert %fits, "node 'exp': ..."
    linalg.exp ins(%a : memref<?xf32>) outs(%b : memref<10xf32>)
    ```
  }];
  let dependentDialects = ["::mlir::cf::ControlFlowDialect"];
  let statistics = [
    Statistic<"numMoved", "moved", "Checks that are moved">,
  ];
}

def CarryInPlace : Pass<"onnxq-carry-in-place", "::mlir::ModuleOp"> {
  let summary = "give each buffer that a loop carries one allocation";
  let description = [{
    A bufferized loop makes a new buffer in each iteration for what it carries
    on, and a while loop copies it before each iteration as well. A carried
    buffer of static size gets one allocation outside the loop, into which each
    iteration copies; so a model of static shapes needs no memory at run time.
    One of dynamic size is handed on as it is.

    ```mlir
    %r = scf.for ... iter_args(%a = %init) -> (memref<4xf32>) {
      %b = memref.alloc() : memref<4xf32>
      ...
      scf.yield %b : memref<4xf32>
    }
    // becomes
    %r = scf.for ... iter_args(%a = %init) -> (memref<4xf32>) {
      %b = memref.alloc() : memref<4xf32>
      ...
      memref.copy %b, %a : memref<4xf32> to memref<4xf32>
      scf.yield %a : memref<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numSettled", "settled", "Carried buffers with one allocation">,
    Statistic<"numHandedOn", "handed-on", "Copies of conditions dropped">,
  ];
}

def ExpandAtLoad : Pass<"onnxq-expand-at-load", "::mlir::ModuleOp"> {
  let summary = "expand stored weights when code is loaded";
  let description = [{
    Every `onnxq.expand` of a constant moves into the function `onnxq_load`, and
    what it computes into memory of the module, of which the object file has no
    bytes. The function's `onnxq.load_bytes` tells how many there are. Memory of 4 MiB or more
    asks Linux for large pages (`madvise`, if there is one).

    ```mlir
    %w = memref.get_global @stored : memref<9216xi8>
    %a = memref.alloc() : memref<36864xi16>
    onnxq.expand ins(%w : memref<9216xi8>) outs(%a : memref<36864xi16>) attributes {panels = 2 : i64}
    // becomes
    %m = memref.get_global @onnxq_expanded : memref<73728xi8>
    %a = memref.view %m[%c0][] : memref<73728xi8> to memref<36864xi16>
    // with
    memref.global "private" @onnxq_expanded : memref<73728xi8> = dense<0> {alignment = 4096 : i64}
    func.func private @onnxq_load() attributes {onnxq.load_bytes = 73728 : i64} {
      %m = memref.get_global @onnxq_expanded : memref<73728xi8>
      %w = memref.get_global @stored : memref<9216xi8>
      %a = memref.view %m[%c0][] : memref<73728xi8> to memref<36864xi16>
      onnxq.expand ins(%w : memref<9216xi8>) outs(%a : memref<36864xi16>) attributes {panels = 2 : i64}
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::LLVM::LLVMDialect"];
  let statistics = [
    Statistic<"numExpanded", "expanded", "Constants expanded at load">,
  ];
}

def OutlineKernels : Pass<"onnxq-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "move the work of a graph into functions";
  let description = [{
    Every `linalg` op, every copy between buffers that aren't contiguous and
    every loop that only reads and writes buffers becomes a call of a private
    function, `onnxq.kernel`. Equal computations share a function: weights and
    buffers are arguments, and so are the offsets of slices and dynamic sizes.
    Elementwise work on contiguous buffers of which there are three sizes or
    factors or more becomes work on rows of open length, with the factors as
    arguments, so that one function does it all. In a loop of the graph, work on less than 1024 elements stays where it is. The
    call keeps the node's name as `onnxq.node`.

    A function takes pointers. Those of buffers that certainly don't overlap
    with another that the function writes are `llvm.noalias`; a buffer that is
    updated in place is one argument.

    ```mlir
    linalg.exp ins(%x : memref<4x8xf32>) outs(%y : memref<4x8xf32>)
    // becomes
    call @kernel_exp_0(%x, %y) {onnxq.node = "exp"} : (memref<4x8xf32>, memref<4x8xf32>) -> ()
    // of
    func.func private @kernel_exp_0(%x: memref<4x8xf32> {llvm.noalias}, %y: memref<4x8xf32> {llvm.noalias}) attributes {onnxq.kernel = "linalg.exp", ...} {
      linalg.exp ins(%x : memref<4x8xf32>) outs(%y : memref<4x8xf32>)
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect",
    "::mlir::memref::MemRefDialect", "::mlir::LLVM::LLVMDialect"];
  let statistics = [
    Statistic<"numOutlined", "outlined", "Ops replaced by a call">,
    Statistic<"numFunctions", "functions", "Functions made">,
  ];
}

def PlanMemory : Pass<"onnxq-plan-memory", "::mlir::ModuleOp"> {
  let summary = "place buffers of static size in one workspace by lifetime";
  let description = [{
    The entry function gets two more arguments: the run's context and a
    workspace. Buffers of static size become views of the workspace, placed so
    that buffers alive at the same time don't overlap; its size is written to
    the function as `onnxq.workspace_bytes`. Buffers of dynamic size, and those
    that leave an iteration of a loop, are allocated through the context, which
    frees them when the run ends; a size that can't be is an error there, and so
    are buffers that take more than `max-bytes` together (`onnxq.max_bytes` of
    the module). A loop in which that happens frees at the end
    of each iteration what it allocated since its beginning and doesn't carry on,
    so that its memory doesn't grow with its iterations.

    A result of static size, 16 KiB or more, is a view of an argument of its own
    behind all others, so that it can be computed in the caller's memory.
    `onnxq.placed_results` lists these results, each with its offset in the
    workspace, where it goes otherwise.

    ```mlir
    %a = memref.alloc() : memref<16xf32>
    // becomes
    %a = memref.view %workspace[%offset][] : memref<?xi8> to memref<16xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect",
    "::mlir::LLVM::LLVMDialect"];
  let statistics = [
    Statistic<"numPlanned", "planned", "Buffers placed in the workspace">,
    Statistic<"numDynamic", "dynamic", "Buffers allocated at run time">,
  ];
  let options = [
    Option<"report", "report", "bool", "false",
      "write the buffers and their offsets to the function as `onnxq.buffers`">,
    Option<"maxBytes", "max-bytes", "int64_t", "0",
      "bytes that a run's tensors may take; 0 for any number">,
  ];
}

def ProfileKernels : Pass<"onnxq-profile-kernels", "::mlir::ModuleOp"> {
  let summary = "measure how long each kernel of a graph takes";
  let description = [{
    Reads the clock (`clock_gettime`) before and after each call of a kernel and
    each copy of a buffer in the graph, and sums up the time and the calls of
    each. The symbol `onnxq_profile` tells them with the nodes' names; see
    onnxquant-c/model.h. `onnxq bench --profile` uses it.

    ```mlir
    call @kernel_exp_0(%x, %y) {onnxq.node = "exp"} : (memref<4xf32>, memref<4xf32>) -> ()
    // becomes
    %start = llvm.call @onnxq_clock() : () -> i64
    call @kernel_exp_0(%x, %y) {onnxq.node = "exp"} : (memref<4xf32>, memref<4xf32>) -> ()
    llvm.call @onnxq_record(%entry, %start) : (i64, i64) -> ()
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
  let statistics = [
    Statistic<"numMeasured", "measured", "Calls and copies that are measured">,
  ];
}

def LowerTransposes : Pass<"onnxq-lower-transposes", "::mlir::ModuleOp"> {
  let summary = "transpose buffers by blocks of 8 by 8 elements";
  let description = [{
    A `linalg.transpose` of elements of 8 to 32 bits after which other elements
    lie side by side than before becomes a loop over blocks of 8 by 8 elements:
    eight vectors are read along the input's last dimension, transposed by
    shuffles, and written along the output's. Elements that make no whole block
    are copied one by one. Where one of the two dimensions has less than 8
    elements, the op stays.

    ```mlir
    linalg.transpose ins(%x : memref<64x64xf32>) outs(%y : memref<64x64xf32>) permutation = [1, 0]
    // becomes
    scf.parallel (%i, %j) = (%c0, %c0) to (%c64, %c64) step (%c8, %c8) {
      %r0 = vector.load %x[%j, %i] : memref<64x64xf32>, vector<8xf32>
      ...
      %s0 = vector.shuffle %r0, %r4 [0, 1, 2, 3, 8, 9, 10, 11] : vector<8xf32>, vector<8xf32>
      ...
      vector.store %t0, %y[%i, %j] : memref<64x64xf32>, vector<8xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
  let statistics = [
    Statistic<"numLowered", "lowered", "Transpositions done by blocks">,
  ];
}

def LowerCopies : Pass<"onnxq-lower-copies", "::mlir::ModuleOp"> {
  let summary = "turn copies of buffers that are not contiguous into loops";
  let description = [{
    A `memref.copy` of contiguous buffers is one `memcpy`; any other would call
    a runtime library, and becomes loops here, all but the innermost parallel.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def Parallelize : Pass<"onnxq-parallelize", "::mlir::ModuleOp"> {
  let summary = "share the loops of kernels between threads";
  let description = [{
    A `scf.parallel` of a kernel with more than about 65,000 scalar operations
    becomes a function that does a range of one dimension, and a region of
    OpenMP in which each thread calls it with its share. The dimension is the
    outermost one whose shares are about equal. The size of a loop that is known
    at run time only is compared there. Loops that can end the run by a check,
    and those that write to scratch memory of their function, stay sequential,
    and so do all with `threads=1`. The module's `onnxq.threads` tells that there
    are such regions.

    ```mlir
    scf.parallel (%i) = (%c0) to (%n) step (%c1) { ... }
    // becomes
    omp.parallel num_threads(%threads : i32) {
      omp.wsloop {
        omp.loop_nest (%t) : index = (%c0) to (%count) step (%c1) {
          // from = t * n / count, to = (t + 1) * n / count
          func.call @kernel_0_share(..., %from, %to)
          omp.yield
        }
      }
      omp.terminator
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect",
    "::mlir::omp::OpenMPDialect", "::mlir::scf::SCFDialect",
    "::mlir::LLVM::LLVMDialect"];
  let options = [
    Option<"threads", "threads", "int64_t", "1", "threads that a run uses">,
  ];
  let statistics = [
    Statistic<"numShared", "shared", "Loops shared between threads">,
    Statistic<"numSequential", "sequential", "Loops that one thread does">,
  ];
}

def VectorizeReductions
    : Pass<"onnxq-vectorize-reductions", "::mlir::ModuleOp"> {
  let summary = "reduce along contiguous elements in lanes";
  let description = [{
    A loop that combines one contiguous element after the other into one accumulator
    gets a loop over vectors of 16 lanes before it if there are 32 elements or
    more. Lane `i` takes elements `i`, `i + 16`, ...; the lanes are combined by
    halves, and the elements that are left follow one by one. The order of a
    sum depends on the number of its elements alone: results are the same on
    every target.

    ```mlir
    scf.for %k = %c0 to %n step %c1 {
      %s = memref.load %sum[] : memref<f32>
      %v = memref.load %x[%k] : memref<?xf32>
      %t = arith.addf %s, %v : f32
      memref.store %t, %sum[] : memref<f32>
    }
    // gets before it
    %lanes = scf.for %k = %c0 to %end step %c16 iter_args(%s = %zeros) -> (vector<16xf32>) {
      %v = vector.load %x[%k] : memref<?xf32>, vector<16xf32>
      %t = arith.addf %s, %v : vector<16xf32>
      scf.yield %t : vector<16xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
  let options = [
    Option<"floats", "floats", "bool", "false",
      "only of floats, whose order matters">,
  ];
  let statistics = [
    Statistic<"numVectorized", "vectorized", "Loops that got lanes">,
  ];
}

def VerifyLowered : Pass<"onnxq-verify-lowered", "::mlir::ModuleOp"> {
  let summary = "refuse what should be loops over buffers by now";
  let description = [{
    The gate behind the lowering to loops: an op of the `onnx`, `linalg`,
    `tensor` or `bufferization` dialect, or one of `onnxq` that isn't an
    observer, is an error, which names the node.

    ```mlir
    linalg.fill ins(%zero : f32) outs(%y : memref<4xf32>)
    // error: is left where loops over buffers are expected
    ```
  }];
}

def CheckBare : Pass<"onnxq-check-bare", "::mlir::ModuleOp"> {
  let summary = "refuse what a microcontroller can't run";
  let description = [{
    Names the node of the first op that would need an allocation, a check at run
    time, `f64`, or a function of a C library. With `fma` fused products and sums
    of floats are there, and with them the functions that are made of them.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect"];
  let options = [
    Option<"fma", "fma", "bool", "false",
      "multiply and add in one rounding: the target has an instruction for it">,
    Option<"target", "target", "std::string", "",
      "the target's name for messages">,
  ];
}

def ExpandMath : Pass<"onnxq-expand-math", "::mlir::ModuleOp"> {
  let summary = "turn functions of f32 into arithmetic";
  let description = [{
    `math.exp`, `math.log`, `math.tanh`, `math.erf`, `math.erfc` and `math.powf`
    of `f32`, or of vectors of it, become polynomials with shifts and selects:
    loops with them are vectorized, and results are the same to the bit on every
    target that multiplies and adds in one rounding. The error is below 1 unit
    of the last place for exp, log and powf, 1.4 for tanh and erf, 3 for erfc.
    Powers with constant exponents of 1, 2 and 3 become products.

    ```mlir
    %y = math.powf %x, %two : f32
    // becomes
    %y = arith.mulf %x, %x : f32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect"];
  let options = [
    Option<"fma", "fma", "bool", "true",
      "multiply and add in one rounding: the target has an instruction for it">,
  ];
}

def NarrowFloats : Pass<"onnxq-narrow-floats", "::mlir::ModuleOp"> {
  let summary = "round and convert floats by what microcontrollers have";
  let description = [{
    `math.floor` and `math.roundeven` of `f32` become a conversion to `i32` and
    back with a correction: there is no C library to call. A conversion to `i64`
    of what is bounded by constants that `i32` holds becomes one to `i32`, which
    is an instruction where there are floats at all.

    ```mlir
    %c = arith.minimumf %b, %c127 : f32  // and %b is at least -128
    %i = arith.fptosi %c : f32 to i64
    %y = arith.trunci %i : i64 to i8
    // becomes
    %i = arith.fptosi %c : f32 to i32
    %y = arith.trunci %i : i32 to i8
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect"];
}

def CheckBounds : Pass<"onnxq-check-bounds", "::mlir::ModuleOp"> {
  let summary = "check at run time that every access to a buffer is in bounds";
  let description = [{
    Puts a `cf.assert` before every `memref.load` and `memref.store` that its
    indices are within the buffer's sizes, before every `memref.subview` that
    it is within its source, and before every `memref.copy` that both sides
    have the same sizes. For tests of the lowerings.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::memref::MemRefDialect"];
  let statistics = [
    Statistic<"numChecked", "checked", "Accesses that are checked">,
  ];
}

def LowerChecks : Pass<"onnxq-lower-checks", "::mlir::ModuleOp"> {
  let summary = "turn assertions into errors that the caller of a run gets";
  let description = [{
    `cf.assert` ends the process; a model that runs in somebody's program must
    not. A failed check calls `onnxq_fail`, which leaves the run with the check's
    message. With `remove` all checks are dropped.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect", "::mlir::LLVM::LLVMDialect"];
  let options = [
    Option<"remove", "remove", "bool", "false", "drop all checks">,
  ];
}

def ConvertFunctions : Pass<"onnxq-convert-functions", "::mlir::func::FuncOp"> {
  let summary = "turn what a function does into the LLVM dialect";
  let description = [{
    Buffers, branches and numbers become the LLVM dialect in one step instead of
    one for each dialect, for several functions at the same time. Allocations
    and constants stay: what they refer to is in the module.

    ```mlir
    %v = memref.load %a[%i] : memref<4xf32>
    // becomes
    %p = llvm.getelementptr inbounds|nuw %base[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %p : !llvm.ptr -> f32
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
  let options = [
    Option<"indexBits", "index-bits", "unsigned", "64", "bits of an index">,
  ];
}

def EmitEntryPoint : Pass<"onnxq-emit-entry-point", "::mlir::ModuleOp"> {
  let summary = "give the compiled graph its C interface";
  let description = [{
    Adds the function and the description that callers see: `NAME_run` and
    `NAME_model` as declared in onnxquant-c/model.h. Everything else becomes
    private. The module's `onnxq.model` tells the name from here on.
    `onnxq_load`, if there is one, becomes NAME_onnxq_load, which is hidden, and a
    constructor that runs before those of programs. If the module has `onnxq.tiles`,
    the first run requests AMX tiles from Linux, and fails if they are refused.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
  let options = [
    Option<"name", "name", "std::string", "\"model\"",
      "prefix of the emitted symbols">,
    Option<"indexBits", "index-bits", "unsigned", "64",
      "bits of an index and of a pointer">,
  ];
}

#endif // ONNXQUANT_TRANSFORMS_CODEGEN_PASSES_TD
