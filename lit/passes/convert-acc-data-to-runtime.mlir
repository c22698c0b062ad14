// RUN: accopt %s -p convert-acc-data-to-runtime | filecheck %s

// What is constant is in the site table.
// CHECK:      accx.sites = [{kind = "launch", file = "a.c", line = 3 : i64, function = "f", kernel = "f_3_host", arg_bytes = [8 : i64]},
// CHECK-SAME: kind = "compute", {{.*}}function = "f", vars = ["x"], types = ["f32"], element_bytes = [4 : i64]}

// One enter and one exit around the launch, with the same records, which live in the entry block
// although the construct is in a loop.
// CHECK-LABEL: llvm.func @f(
// CHECK:         %kernel_args = llvm.alloca %{{.*}} x !llvm.array<1 x !llvm.array<16 x i64>> {alignment = 64 : i64}
// CHECK:         %launch = llvm.alloca
// CHECK:         %records = llvm.alloca %{{.*}} x !llvm.array<8 x i64>
// CHECK:         scf.for
// CHECK-NOT:       llvm.alloca
// CHECK:           %x_bytes = arith.muli
// CHECK:           llvm.store %x, %records : !llvm.ptr, !llvm.ptr
// CHECK:           llvm.call @__accopt_data_enter(%{{.*}}, %records, %{{.*}}, %q)
// CHECK:           %x_dev{{.*}} = llvm.load
// CHECK:           llvm.call @__accopt_launch(%{{.*}}, %launch)
// CHECK:           llvm.call @__accopt_data_exit(%{{.*}}, %records, %{{.*}}, %q)
// CHECK:         llvm.return
builtin.module attributes {accx.sites = [{kind = "launch", file = "a.c", line = 3 : i64, function = "f", kernel = "f_3_host"}]} {
llvm.func @f(%n: i32, %x: !llvm.ptr, %q: i64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %l0 = arith.constant 0 : i64
  %l4 = arith.constant 4 : i64
  %n64 = arith.extsi %n : i32 to i64
  scf.for %i = %c0 to %n step %c1 : i32 {
    %b = acc.bounds lowerbound(%l0 : i64) extent(%n64 : i64) stride(%l4 : i64) startIdx(%l0 : i64) {strideInBytes = true}
    %dx = acc.copyin varPtr(%x : !llvm.ptr) varType(f32) bounds(%b) -> !llvm.ptr {name = "x", dataClause = #acc<data_clause acc_copy>}
    accx.launch_host @f_3_host gangs(%n) queue(%q) args(%dx) {accx.site = 0 : i32} : !llvm.ptr
    acc.copyout accPtr(%dx : !llvm.ptr) bounds(%b) to varPtr(%x : !llvm.ptr) varType(f32) {name = "x", dataClause = #acc<data_clause acc_copy>}
  }
  llvm.return
}

// The region of a data construct stays; its if clause skips only the calls.
// CHECK-LABEL: llvm.func @region
// CHECK:         scf.if %c {
// CHECK:           llvm.call @__accopt_data_enter
// CHECK-NEXT:    }
// CHECK-NEXT:    llvm.store %{{.*}}, %{{.*}} : i32, !llvm.ptr
// CHECK:         scf.if %c {
// CHECK:           llvm.call @__accopt_data_exit
llvm.func @region(%x: !llvm.ptr, %c: i1) {
  %c1 = arith.constant 1 : i32
  %dx = acc.create varPtr(%x : !llvm.ptr) varType(i32) -> !llvm.ptr {name = "x"}
  acc.data if(%c) dataOperands(%dx : !llvm.ptr) {
    llvm.store %c1, %x : i32, !llvm.ptr
    acc.terminator
  }
  acc.delete accPtr(%dx : !llvm.ptr) {name = "x"}
  llvm.return
}

// Waiting on a device given by number goes through its own routine.
// CHECK-LABEL: llvm.func @waits
// CHECK:         llvm.call @acc_wait_device_async(%{{.*}}, %{{.*}}, %d) : (i32, i32, i32) -> ()
// CHECK:         llvm.call @__accopt_wait(%{{.*}}, %queues, %{{.*}}, %{{.*}}) : (i32, !llvm.ptr, i32, i64) -> ()
llvm.func @waits(%q: i32, %d: i32) {
  acc.wait(%q : i32) wait_devnum(%d : i32)
  acc.wait(%q : i32)
  llvm.return
}

// The host reads what was reduced right after the construct, so it waits for its launches (-2), wherever they are.
// CHECK-LABEL: llvm.func @reduces
// CHECK:         scf.if
// CHECK:           arith.constant -2 : i64
// CHECK-NOT:       -1073741824
// CHECK:         } else {
// CHECK:           arith.constant -2 : i64
// CHECK:         __accopt_data_exit
llvm.func @reduces(%c: i1, %x: !llvm.ptr) {
  %n = arith.constant 1 : i32
  %q = arith.constant -1073741824 : i64
  %dx = acc.copyin varPtr(%x : !llvm.ptr) varType(i64) -> !llvm.ptr {accx.cell, name = "x", dataClause = #acc<data_clause acc_copy>}
  scf.if %c {
    "gpu.launch_func"(%n, %n, %n, %n, %n, %n, %dx, %q) <{kernel = @kernels::@k, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1>}> {accx.site = 0 : i32} : (i32, i32, i32, i32, i32, i32, !llvm.ptr, i64) -> ()
  } else {
    "gpu.launch_func"(%n, %n, %n, %n, %n, %n, %dx, %q) <{kernel = @kernels::@k, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1>}> {accx.site = 0 : i32} : (i32, i32, i32, i32, i32, i32, !llvm.ptr, i64) -> ()
  }
  acc.copyout accPtr(%dx : !llvm.ptr) to varPtr(%x : !llvm.ptr) varType(i64) {name = "x", dataClause = #acc<data_clause acc_copy>}
  llvm.return
}

// The queue of a version is computed again for the data operations, which are before the versions.
// CHECK-LABEL: llvm.func @versions
// CHECK:         %[[Q:.*]] = arith.extsi %q{{.*}} : i32 to i64
// CHECK:         llvm.call @__accopt_data_enter(%{{.*}}, %records{{.*}}, %{{.*}}, %[[Q]])
// CHECK:         scf.if %c
// CHECK:         llvm.call @__accopt_data_exit(%{{.*}}, %records{{.*}}, %{{.*}}, %[[Q]])
llvm.func @versions(%n: i32, %x: !llvm.ptr, %q: i32, %c: i1) {
  %dx = acc.copyin varPtr(%x : !llvm.ptr) varType(i32) -> !llvm.ptr {name = "x", dataClause = #acc<data_clause acc_copy>}
  scf.if %c {
    %q64 = arith.extsi %q : i32 to i64
    accx.launch_host @f_9_host gangs(%n) queue(%q64) args(%dx) {accx.site = 0 : i32} : !llvm.ptr
  }
  acc.copyout accPtr(%dx : !llvm.ptr) to varPtr(%x : !llvm.ptr) varType(i32) {name = "x", dataClause = #acc<data_clause acc_copy>}
  llvm.return
}
}
