// RUN: accopt %s | filecheck %s
// RUN: accopt %s | accopt | filecheck %s
// RUN: %if mlir-opt %{ accopt %s | mlir-opt > /dev/null %}

// Operations are read and printed in upstream's syntax, which upstream reads back.
// CHECK: builtin.module
module {
  llvm.func @f(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: i64, %arg4: f32, %arg5: f64, %arg6: i1) {
    %0 = llvm.atomicrmw add %arg0, %arg2 monotonic : !llvm.ptr, i32
    %1 = llvm.atomicrmw volatile fadd %arg0, %arg4 syncscope("device") acq_rel {alignment = 4 : i64} : !llvm.ptr, f32
    %2 = llvm.cmpxchg weak volatile %arg0, %arg2, %arg2 syncscope("x") acq_rel monotonic {alignment = 4 : i64} : !llvm.ptr, i32
    llvm.fence syncscope("agent") seq_cst
    llvm.fence acquire
    llvm.switch %arg2 : i32, ^bb1 [
      42: ^bb1,
      -1: ^bb2(%arg2 : i32)
    ]
  ^bb1:
    llvm.switch %arg2 : i32, ^bb1 [
    ]
  ^bb2(%3: i32):
    %4 = llvm.uitofp %arg2 : i32 to f32
    %5 = llvm.uitofp nneg %arg2 : i32 to f32
    %6 = llvm.fptosi %arg4 : f32 to i32
    %7 = llvm.fptoui %arg4 : f32 to i32
    %8 = llvm.freeze %arg2 : i32
    %9 = llvm.addrspacecast %arg0 : !llvm.ptr to !llvm.ptr<3>
    "llvm.intr.memcpy"(%arg0, %arg1, %arg3) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
    "llvm.intr.memmove"(%arg0, %arg1, %arg3) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
    %10 = llvm.mlir.constant(0 : i8) : i8
    "llvm.intr.memset"(%arg0, %10, %arg3) <{arg_attrs = [{llvm.align = 8 : i64}, {}, {}], isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()
    llvm.intr.vastart %arg0 : !llvm.ptr
    llvm.intr.vaend %arg0 : !llvm.ptr
    llvm.intr.vacopy %arg0 to %arg1 : !llvm.ptr, !llvm.ptr
    %11 = llvm.va_arg %arg0 : (!llvm.ptr) -> i32
    llvm.return
  }
  llvm.func @g(%arg0: i32, %arg1: f32, %arg2: f64, %arg3: i1) {
    %0 = llvm.intr.rint(%arg1) : (f32) -> f32
    %1 = llvm.intr.trunc(%arg1) : (f32) -> f32
    %2 = llvm.intr.round(%arg1) : (f32) -> f32
    %3 = llvm.intr.nearbyint(%arg1) : (f32) -> f32
    %4 = llvm.intr.roundeven(%arg1) : (f32) -> f32
    %5 = llvm.intr.ctpop(%arg0) : (i32) -> i32
    %6 = "llvm.intr.ctlz"(%arg0) <{is_zero_poison = false}> : (i32) -> i32
    %7 = "llvm.intr.cttz"(%arg0) <{is_zero_poison = false}> : (i32) -> i32
    %8 = "llvm.intr.abs"(%arg0) <{is_int_min_poison = false}> : (i32) -> i32
    %9 = llvm.intr.smax(%arg0, %arg0) : (i32, i32) -> i32
    %10 = llvm.intr.smin(%arg0, %arg0) : (i32, i32) -> i32
    %11 = llvm.intr.umax(%arg0, %arg0) : (i32, i32) -> i32
    %12 = llvm.intr.umin(%arg0, %arg0) : (i32, i32) -> i32
    %13 = llvm.intr.maximum(%arg1, %arg1) : (f32, f32) -> f32
    %14 = llvm.intr.minimum(%arg1, %arg1) : (f32, f32) -> f32
    %15 = llvm.intr.log10(%arg1) : (f32) -> f32
    %16 = llvm.intr.exp10(%arg1) : (f32) -> f32
    %17 = llvm.intr.bswap(%arg0) : (i32) -> i32
    %18 = llvm.intr.fshl(%arg0, %arg0, %arg0) : (i32, i32, i32) -> i32
    %19 = llvm.intr.fmuladd(%arg1, %arg1, %arg1) : (f32, f32, f32) -> f32
    %20 = llvm.intr.tan(%arg1) : (f32) -> f32
    %21 = llvm.intr.powi(%arg1, %arg0) : (f32, i32) -> f32
    llvm.intr.assume %arg3 : i1
    %22 = llvm.intr.expect %arg3, %arg3 : i1
    %23 = llvm.intr.bitreverse(%arg0) : (i32) -> i32
    %24 = "llvm.intr.is.fpclass"(%arg1) <{bit = 3 : i32}> : (f32) -> i1
    %25 = llvm.intr.sinh(%arg1) : (f32) -> f32
    %26 = llvm.intr.atan2(%arg1, %arg1) : (f32, f32) -> f32
    %27 = llvm.mlir.poison : i32
    %28 = llvm.intr.tanh(%arg1) : (f32) -> f32
    %29 = llvm.intr.acos(%arg1) : (f32) -> f32
    llvm.intr.trap
    %30 = llvm.intr.copysign(%arg1, %arg1) : (f32, f32) -> f32
    llvm.unreachable
  }
}

// CHECK-NEXT:   llvm.func @f(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: i64, %arg4: f32, %arg5: f64, %arg6: i1) {
// CHECK-NEXT:     %0 = llvm.atomicrmw add %arg0, %arg2 monotonic : !llvm.ptr, i32
// CHECK-NEXT:     %1 = llvm.atomicrmw volatile fadd %arg0, %arg4 syncscope("device") acq_rel {alignment = 4 : i64} : !llvm.ptr, f32
// CHECK-NEXT:     %2 = llvm.cmpxchg weak volatile %arg0, %arg2, %arg2 syncscope("x") acq_rel monotonic {alignment = 4 : i64} : !llvm.ptr, i32
// CHECK-NEXT:     llvm.fence syncscope("agent") seq_cst
// CHECK-NEXT:     llvm.fence acquire
// CHECK-NEXT:     llvm.switch %arg2 : i32, ^bb1 [
// CHECK-NEXT:       42: ^bb1,
// CHECK-NEXT:       -1: ^bb2(%arg2 : i32)
// CHECK-NEXT:     ]
// CHECK-NEXT:   ^bb1:
// CHECK-NEXT:     llvm.switch %arg2 : i32, ^bb1 [
// CHECK-NEXT:     ]
// CHECK-NEXT:   ^bb2(%3: i32):
// CHECK-NEXT:     %4 = llvm.uitofp %arg2 : i32 to f32
// CHECK-NEXT:     %5 = llvm.uitofp nneg %arg2 : i32 to f32
// CHECK-NEXT:     %6 = llvm.fptosi %arg4 : f32 to i32
// CHECK-NEXT:     %7 = llvm.fptoui %arg4 : f32 to i32
// CHECK-NEXT:     %8 = llvm.freeze %arg2 : i32
// CHECK-NEXT:     %9 = llvm.addrspacecast %arg0 : !llvm.ptr to !llvm.ptr<3>
// CHECK-NEXT:     "llvm.intr.memcpy"(%arg0, %arg1, %arg3) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
// CHECK-NEXT:     "llvm.intr.memmove"(%arg0, %arg1, %arg3) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
// CHECK-NEXT:     %10 = llvm.mlir.constant(0 : i8) : i8
// CHECK-NEXT:     "llvm.intr.memset"(%arg0, %10, %arg3) <{arg_attrs = [{llvm.align = 8 : i64}, {}, {}], isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()
// CHECK-NEXT:     llvm.intr.vastart %arg0 : !llvm.ptr
// CHECK-NEXT:     llvm.intr.vaend %arg0 : !llvm.ptr
// CHECK-NEXT:     llvm.intr.vacopy %arg0 to %arg1 : !llvm.ptr, !llvm.ptr
// CHECK-NEXT:     %11 = llvm.va_arg %arg0 : (!llvm.ptr) -> i32
// CHECK-NEXT:     llvm.return
// CHECK-NEXT:   }
// CHECK-NEXT:   llvm.func @g(%arg0_1: i32, %arg1_1: f32, %arg2_1: f64, %arg3_1: i1) {
// CHECK-NEXT:     %12 = llvm.intr.rint(%arg1_1) : (f32) -> f32
// CHECK-NEXT:     %13 = llvm.intr.trunc(%arg1_1) : (f32) -> f32
// CHECK-NEXT:     %14 = llvm.intr.round(%arg1_1) : (f32) -> f32
// CHECK-NEXT:     %15 = llvm.intr.nearbyint(%arg1_1) : (f32) -> f32
// CHECK-NEXT:     %16 = llvm.intr.roundeven(%arg1_1) : (f32) -> f32
// CHECK-NEXT:     %17 = llvm.intr.ctpop(%arg0_1) : (i32) -> i32
// CHECK-NEXT:     %18 = "llvm.intr.ctlz"(%arg0_1) <{is_zero_poison = false}> : (i32) -> i32
// CHECK-NEXT:     %19 = "llvm.intr.cttz"(%arg0_1) <{is_zero_poison = false}> : (i32) -> i32
// CHECK-NEXT:     %20 = "llvm.intr.abs"(%arg0_1) <{is_int_min_poison = false}> : (i32) -> i32
// CHECK-NEXT:     %21 = llvm.intr.smax(%arg0_1, %arg0_1) : (i32, i32) -> i32
// CHECK-NEXT:     %22 = llvm.intr.smin(%arg0_1, %arg0_1) : (i32, i32) -> i32
// CHECK-NEXT:     %23 = llvm.intr.umax(%arg0_1, %arg0_1) : (i32, i32) -> i32
// CHECK-NEXT:     %24 = llvm.intr.umin(%arg0_1, %arg0_1) : (i32, i32) -> i32
// CHECK-NEXT:     %25 = llvm.intr.maximum(%arg1_1, %arg1_1) : (f32, f32) -> f32
// CHECK-NEXT:     %26 = llvm.intr.minimum(%arg1_1, %arg1_1) : (f32, f32) -> f32
// CHECK-NEXT:     %27 = llvm.intr.log10(%arg1_1) : (f32) -> f32
// CHECK-NEXT:     %28 = llvm.intr.exp10(%arg1_1) : (f32) -> f32
// CHECK-NEXT:     %29 = llvm.intr.bswap(%arg0_1) : (i32) -> i32
// CHECK-NEXT:     %30 = llvm.intr.fshl(%arg0_1, %arg0_1, %arg0_1) : (i32, i32, i32) -> i32
// CHECK-NEXT:     %31 = llvm.intr.fmuladd(%arg1_1, %arg1_1, %arg1_1) : (f32, f32, f32) -> f32
// CHECK-NEXT:     %32 = llvm.intr.tan(%arg1_1) : (f32) -> f32
// CHECK-NEXT:     %33 = llvm.intr.powi(%arg1_1, %arg0_1) : (f32, i32) -> f32
// CHECK-NEXT:     llvm.intr.assume %arg3_1 : i1
// CHECK-NEXT:     %34 = llvm.intr.expect %arg3_1, %arg3_1 : i1
// CHECK-NEXT:     %35 = llvm.intr.bitreverse(%arg0_1) : (i32) -> i32
// CHECK-NEXT:     %36 = "llvm.intr.is.fpclass"(%arg1_1) <{bit = 3 : i32}> : (f32) -> i1
// CHECK-NEXT:     %37 = llvm.intr.sinh(%arg1_1) : (f32) -> f32
// CHECK-NEXT:     %38 = llvm.intr.atan2(%arg1_1, %arg1_1) : (f32, f32) -> f32
// CHECK-NEXT:     %39 = llvm.mlir.poison : i32
// CHECK-NEXT:     %40 = llvm.intr.tanh(%arg1_1) : (f32) -> f32
// CHECK-NEXT:     %41 = llvm.intr.acos(%arg1_1) : (f32) -> f32
// CHECK-NEXT:     llvm.intr.trap
// CHECK-NEXT:     %42 = llvm.intr.copysign(%arg1_1, %arg1_1) : (f32, f32) -> f32
// CHECK-NEXT:     llvm.unreachable
// CHECK-NEXT:   }
