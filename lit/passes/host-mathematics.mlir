// RUN: accopt %s -p host-mathematics | filecheck %s
// RUN: accopt %s -p "host-mathematics{fast=true}" | filecheck %s --check-prefix=FAST

// Device code's mathematics sets no errno; host code's does. What the program defines itself is not C's.

// CHECK: llvm.func @__accopt_math_exp(f64) -> f64
// FAST: llvm.func @__accopt_fast_exp(f64) -> f64
llvm.func @exp(f64) -> f64
llvm.func @sqrtf(f32) -> f32
llvm.func @lgamma(f64) -> f64
llvm.func @fmaxf(f32, f32) -> f32
llvm.func @fmin(f64, f64) -> f64
llvm.func @sinf(%x: f32) -> f32 {
  llvm.return %x : f32
}

// CHECK-LABEL: llvm.func @host
// CHECK: llvm.call @exp(
llvm.func @host(%x: f64) -> f64 {
  %y = llvm.call @exp(%x) : (f64) -> f64
  llvm.return %y : f64
}

// CHECK-LABEL: llvm.func @host_3_host
// CHECK: llvm.call @__accopt_math_exp(
// CHECK-NOT: @sqrtf
// CHECK: math.sqrt
// CHECK: llvm.call @sinf(
// CHECK: llvm.call @lgamma(
// CHECK: arith.maxnumf
// CHECK-SAME: f32
// CHECK: arith.minnumf
// FAST-LABEL: llvm.func @host_3_host
// FAST: llvm.call @__accopt_fast_exp(
llvm.func @host_3_host(%begin: i64, %end: i64, %gangs: i64, %args: !llvm.ptr) attributes {accx.kernel} {
  %d = llvm.load %args : !llvm.ptr -> f64
  %f = llvm.load %args : !llvm.ptr -> f32
  %a = llvm.call @exp(%d) : (f64) -> f64
  %b = llvm.call @sqrtf(%f) : (f32) -> f32
  %c = llvm.call @sinf(%b) : (f32) -> f32
  %e = llvm.call @lgamma(%a) : (f64) -> f64
  %most = llvm.call @fmaxf(%f, %b) : (f32, f32) -> f32
  %least = llvm.call @fmin(%d, %a) : (f64, f64) -> f64
  llvm.store %c, %args : f32, !llvm.ptr
  llvm.store %most, %args : f32, !llvm.ptr
  llvm.store %least, %args : f64, !llvm.ptr
  llvm.store %e, %args : f64, !llvm.ptr
  llvm.return
}

// CHECK-LABEL: llvm.func @helper.acc_device
// CHECK: llvm.call @__accopt_math_exp(
llvm.func @helper.acc_device(%x: f64) -> f64 {
  %y = llvm.call @exp(%x) : (f64) -> f64
  llvm.return %y : f64
}
