// Products of bytes by x86's tiles: sums stay in four of them for the whole
// loop, whichever the signs, and go to memory once.
// RUN: onnxq compile %s -o %t.s --target x86-64-v4 --features +amx-tile,+amx-int8 && FileCheck %s < %t.s
// RUN: onnxq compile %s -o %t.s --target x86-64-v4 --features +amx-tile,+amx-int8,+avx512vnni --threads 2 && FileCheck %s --check-prefixes=CHECK,SHARE < %t.s
// RUN: onnxq compile %s -o %t.s --target x86-64-v4 --features +avx512vnni && FileCheck %s --check-prefix=VNNI < %t.s

// SHARE: kernel{{.*}}_share:
// CHECK: ldtilecfg {{.*}}onnxq_tiles_16x64
// CHECK: tilezero %tmm0
// CHECK: tilezero %tmm3
// CHECK-NOT: tilestored
// CHECK: tileloadd {{.*}}, %tmm4
// CHECK: tileloadd {{.*}}, %tmm6
// CHECK: tdpbusd %tmm6, %tmm4, %tmm0
// CHECK: tileloadd {{.*}}, %tmm7
// CHECK: tdpbusd %tmm7, %tmm4, %tmm1
// CHECK: tileloadd {{.*}}, %tmm5
// CHECK: tdpbusd %tmm6, %tmm5, %tmm2
// CHECK-NEXT: tdpbusd %tmm7, %tmm5, %tmm3
// CHECK-NOT: tilestored
// CHECK: {{^[[:space:]]+j}}
// CHECK: tilestored %tmm0
// CHECK: tilestored %tmm1
// CHECK: tilestored %tmm2
// CHECK: tilestored %tmm3
// CHECK: tilerelease
// CHECK: tdpbssd
// VNNI: vpdpbusd
// VNNI-NOT: tmm
// VNNI-NOT: syscall
func.func @main_graph(%x: tensor<128x2048xui8> {onnx.name = "x"}, %y: tensor<128x2048xi8> {onnx.name = "y"}) -> (tensor<128x64xi32> {onnx.name = "p"}, tensor<128x64xi32> {onnx.name = "q"}) {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant dense<127> : tensor<2048x64xi8>
  %p = "onnx.MatMulInteger"(%x, %w, %none, %none) : (tensor<128x2048xui8>, tensor<2048x64xi8>, none, none) -> tensor<128x64xi32>
  %q = "onnx.MatMulInteger"(%y, %w, %none, %none) : (tensor<128x2048xi8>, tensor<2048x64xi8>, none, none) -> tensor<128x64xi32>
  onnx.Return %p, %q : tensor<128x64xi32>, tensor<128x64xi32>
}
"onnx.EntryPoint"() {func = @main_graph} : () -> ()
