// RUN: accopt %s -p convert-acc-data-to-runtime | filecheck %s
// RUN: accopt %s | accopt - --print-op-generic | filecheck %s --check-prefix=GENERIC

// The sites of `deviceid` and `update peer` have their lines and the names of both sections.
// CHECK: accx.sites = [{kind = "deviceid"
// CHECK-SAME: {kind = "update peer", {{.*}}vars = ["t", "s"]

// A construct of another device: the former device comes back after it.
// GENERIC: %former = "accx.enter_device"(%n) : (i64) -> i64
// GENERIC: "accx.leave_device"(%former) : (i64) -> ()
// CHECK-LABEL: llvm.func @construct(
// CHECK:         %former = llvm.call @__accopt_enter_device(%{{.*}}, %n) : (i32, i64) -> i64
// CHECK-NEXT:    llvm.call @inner
// CHECK:         llvm.call @__accopt_leave_device(%{{.*}}, %former)
llvm.func @inner()
llvm.func @construct(%n: i64) {
  %former = accx.enter_device %n
  llvm.call @inner() : () -> ()
  accx.leave_device %former
  llvm.return
}

// A whole variable and a section of two dimensions, on a queue.
// GENERIC: "accx.update_peer"(%t, %s, %c1, %c0, %q, %l, %l, %l, %l, %l, %l)
// CHECK-LABEL: llvm.func @peer(
// CHECK:         %shape = llvm.alloca %{{.*}} x !llvm.array<6 x i64>
// CHECK:         %peer = llvm.alloca %{{.*}} x !llvm.array<11 x i64>
// CHECK-COUNT-6: llvm.store %l
// CHECK:         %[[SHAPE:.*]] = llvm.ptrtoint %shape
// CHECK:         llvm.store %[[SHAPE]]
// CHECK:         llvm.call @__accopt_update_peer(%{{.*}}, %peer)
llvm.func @peer(%t: !llvm.ptr, %s: !llvm.ptr, %l: i64, %q: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  accx.update_peer to "t" %t : !llvm.ptr 96 : i64[] on %c1 from "s" %s : !llvm.ptr 0 : i64[%l, %l, %l, %l, %l, %l] on %c0 queue(%q : i32)
  llvm.return
}
