// RUN: accopt %s -p narrow-long-doubles | filecheck %s

// The host rounds what it passes by value; its own code keeps f80.
// CHECK-LABEL: llvm.func @host
// CHECK:         %[[X:.*]] = arith.truncf %x : f80 to f64
// CHECK-NEXT:    "gpu.launch_func"({{.*}}, %p, %[[X]])
llvm.func @host(%p: !llvm.ptr, %x: f80, %n: i32) {
  "gpu.launch_func"(%n, %n, %n, %n, %n, %n, %p, %x) <{kernel = @kernels::@k, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (i32, i32, i32, i32, i32, i32, !llvm.ptr, f80) -> ()
  llvm.return
}

"gpu.module"() <{sym_name = "kernels"}> ({
  // Variables have 16 bytes where f80 was, with the format of the host.
  // CHECK:       llvm.mlir.global weak constant @table() {{.*}} : !llvm.array<1 x i128> {
  // CHECK:         %[[HALF:.*]] = arith.constant 302261430862777071697920 : i128
  // CHECK:         llvm.insertvalue %[[HALF]], %{{.*}}[0] : !llvm.array<1 x i128>
  llvm.mlir.global weak constant @table() {addr_space = 1 : i32, alignment = 16 : i64} : !llvm.array<1 x f80> {
    %z = llvm.mlir.zero : !llvm.array<1 x f80>
    %h = arith.constant 5.0 : f64
    %w = arith.extf %h : f64 to f80
    %a = llvm.insertvalue %w, %z[0] : !llvm.array<1 x f80>
    llvm.return %a : !llvm.array<1 x f80>
  }

  // Loads round, stores are exact, arithmetic is that of f64; conversions to f64 are nothing.
  // CHECK:       "gpu.func"() <{function_type = (!llvm.ptr, f64) -> (), kernel}>
  // CHECK-NEXT:    ^bb0(%p_1: !llvm.ptr, %[[ARG:.*]]: f64):
  // CHECK:         %[[PRIVATE:.*]] = llvm.alloca %{{.*}} x !llvm.struct<"s.device", (i32, i128)>
  // CHECK-NEXT:    %[[MEMBER:.*]] = llvm.getelementptr %[[PRIVATE]][0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<"s.device", (i32, i128)>
  // CHECK-NEXT:    %[[M:.*]] = llvm.load %p_1 {accx.volatile} : !llvm.ptr -> i64
  // CHECK-NEXT:    %[[Q:.*]] = llvm.getelementptr inbounds %p_1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  // CHECK-NEXT:    %[[E:.*]] = llvm.load %[[Q]] {accx.volatile} : !llvm.ptr -> i16
  // CHECK-NEXT:    %[[V:.*]] = llvm.call @__accopt_from_x87(%[[M]], %[[E]]) : (i64, i16) -> f64
  // CHECK-NEXT:    %[[R:.*]] = llvm.call @sqrt(%[[V]]) : (f64) -> f64
  // CHECK-NEXT:    %[[S:.*]] = arith.addf %[[R]], %[[ARG]] : f64
  // CHECK-NEXT:    %[[D:.*]] = arith.mulf %[[S]], %[[S]] : f64
  // CHECK-NEXT:    %[[F:.*]] = arith.truncf %[[D]] : f64 to f32
  // CHECK-NEXT:    %[[SIG:.*]] = llvm.call @__accopt_x87_significand(%[[S]]) : (f64) -> i64
  // CHECK-NEXT:    llvm.store %[[SIG]], %[[MEMBER]] : i64, !llvm.ptr
  // CHECK-NEXT:    %[[EXP:.*]] = llvm.call @__accopt_x87_sign_exponent(%[[S]]) : (f64) -> i16
  // CHECK-NEXT:    %[[UP:.*]] = llvm.getelementptr inbounds %[[MEMBER]][8] : (!llvm.ptr) -> !llvm.ptr, i8
  // CHECK-NEXT:    llvm.store %[[EXP]], %[[UP]] : i16, !llvm.ptr
  llvm.func @sqrtl(f80) -> f80
  "gpu.func"() <{function_type = (!llvm.ptr, f80) -> (), kernel}> ({
  ^bb0(%p: !llvm.ptr, %x: f80):
    %one = arith.constant 1 : i32
    %a = llvm.alloca %one x !llvm.struct<"s", (i32, f80)> {alignment = 16 : i64} : (i32) -> !llvm.ptr
    %m = llvm.getelementptr %a[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<"s", (i32, f80)>
    %v = llvm.load %p {accx.volatile} : !llvm.ptr -> f80
    %r = llvm.call @sqrtl(%v) : (f80) -> f80
    %s = arith.addf %r, %x : f80
    %d = arith.truncf %s : f80 to f64
    %e = arith.mulf %d, %d : f64
    %f = arith.truncf %e : f64 to f32
    llvm.store %s, %m : f80, !llvm.ptr
    "gpu.return"() : () -> ()
  }) {sym_name = "k", gpu.kernel} : () -> ()

  // Routines take and give f64, through loops too.
  // CHECK:       llvm.func @power(%y: f64, %n_1: i32) -> f64 {
  // CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (f64)
  // CHECK:         llvm.return %{{.*}} : f64
  llvm.func @power(%y: f80, %n: i32) -> f80 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %one = arith.constant 1.0 : f64
    %start = arith.extf %one : f64 to f80
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %start) -> (f80) : i32 {
      %u = arith.mulf %t, %y : f80
      scf.yield %u : f80
    }
    llvm.return %r : f80
  }

  // What has no f80 stays as it is.
  // CHECK:       llvm.func @other(%[[Z:.*]]: f64) -> f64 {
  // CHECK-NEXT:    llvm.return %[[Z]] : f64
  llvm.func @other(%z: f64) -> f64 {
    llvm.return %z : f64
  }
  // CHECK:       llvm.func internal @__accopt_from_x87(
}) : () -> ()
