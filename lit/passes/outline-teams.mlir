// RUN: accopt %s -p outline-teams | filecheck %s

// What the region uses from outside goes through a frame; constants and addresses of symbols are made again.
// CHECK-LABEL: llvm.func internal @shares_omp_0(%frame: !llvm.ptr)
// CHECK-NEXT:    %x = llvm.load %frame : !llvm.ptr -> f64
// CHECK-NEXT:    %two = arith.constant 2.000000e+00 : f64
// CHECK-NEXT:    [[SLOT:%[0-9]+]] = llvm.getelementptr inbounds %frame[8]
// CHECK-NEXT:    %p = llvm.load [[SLOT]] : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT:    %y = arith.mulf %x, %two : f64
// CHECK-NEXT:    llvm.store %y, %p : f64, !llvm.ptr
// CHECK-NEXT:    llvm.return
// CHECK-LABEL: llvm.func @shares(
// CHECK:         %frame_1 = llvm.alloca %{{.*}} x !llvm.array<2 x i64>
// CHECK:         llvm.store %x_1, %frame_1 : f64, !llvm.ptr
// CHECK:         [[BODY:%[0-9]+]] = llvm.mlir.addressof @shares_omp_0 : !llvm.ptr
// CHECK-NEXT:    llvm.call @__accopt_omp_parallel([[BODY]], %frame_1, %n, %one, %where)
// CHECK-NEXT:    llvm.return
llvm.func @shares(%n: i32, %x: f64, %p: !llvm.ptr, %where: !llvm.ptr) {
  %one = arith.constant 1 : i32
  %two = arith.constant 2.0 : f64
  accx.team threads(%n) several(%one) place(%where : !llvm.ptr) {
    %y = arith.mulf %x, %two : f64
    llvm.store %y, %p : f64, !llvm.ptr
  }
  llvm.return
}

// A task inside a team: a function of its own, whose frame is the task's memory.
// CHECK-LABEL: llvm.func internal @tasks_omp_0(
// CHECK:         llvm.store %v, %p_2 : i32, !llvm.ptr
// CHECK-LABEL: llvm.func internal @tasks_omp_0_2(
// CHECK:         %v_1 = llvm.load %p_3 : !llvm.ptr -> i32
// CHECK-NEXT:    %c16 = arith.constant 16 : i64
// CHECK-NEXT:    %frame_4 = llvm.call @__accopt_omp_task_frame(%c16)
// CHECK-NEXT:    llvm.store %v_1, %frame_4 : i32, !llvm.ptr
// CHECK:         llvm.call @__accopt_omp_task(%{{[0-9]+}}, %frame_4, %one_1)
// CHECK-LABEL: llvm.func @tasks(
// CHECK:         llvm.call @__accopt_omp_parallel
llvm.func @tasks(%n: i32, %p: !llvm.ptr, %q: !llvm.ptr) {
  %one = arith.constant 1 : i32
  accx.team threads(%n) several(%one) place(%q : !llvm.ptr) {
    %v = llvm.load %p : !llvm.ptr -> i32
    accx.task deferred(%one) {
      llvm.store %v, %p : i32, !llvm.ptr
    }
  }
  llvm.return
}
