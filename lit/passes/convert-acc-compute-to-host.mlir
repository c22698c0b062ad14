// RUN: accopt %s -p convert-acc-compute-to-host | filecheck %s

acc.reduction.recipe @reduction_add_f64 : !llvm.ptr reduction_operator <add> init {
^bb0(%a: !llvm.ptr):
  %one = arith.constant 1 : i32
  %copy = llvm.alloca %one x f64 : (i32) -> !llvm.ptr
  %first = arith.constant 0.0 : f64
  llvm.store %first, %copy : f64, !llvm.ptr
  acc.yield %copy : !llvm.ptr
} combiner {
^bb0(%a: !llvm.ptr, %b: !llvm.ptr):
  %x = llvm.load %a : !llvm.ptr -> f64
  %y = llvm.load %b : !llvm.ptr -> f64
  %both = arith.addf %x, %y : f64
  llvm.store %both, %a : f64, !llvm.ptr
  acc.yield %a : !llvm.ptr
}

// A body that is one gang loop runs the chunk of all its gangs as one loop, marked for SIMD.
// CHECK-LABEL: llvm.func @scale
// CHECK:         %[[DEV:.*]] = acc.copyin
// CHECK:         accx.launch_host @scale{{.*}}_host gangs(%g) queue(%{{.*}}) args(%n, %[[DEV]]) {accx.site = 0 : i32}
// CHECK-NEXT:    acc.copyout
llvm.func @scale(%n: i32, %x: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %g = arith.constant 8 : i32
  %dx = acc.copyin varPtr(%x : !llvm.ptr) varType(f64) -> !llvm.ptr {name = "x", dataClause = #acc<data_clause acc_copy>}
  acc.parallel dataOperands(%dx : !llvm.ptr) num_gangs({%g : i32}) num_workers(%c1 : i32) vector_length(%c1 : i32) {
    acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %i64 = arith.extsi %i : i32 to i64
      %p = llvm.getelementptr %dx[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, f64
      %v = llvm.load %p : !llvm.ptr -> f64
      %w = arith.addf %v, %v : f64
      llvm.store %w, %p : f64, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  acc.copyout accPtr(%dx : !llvm.ptr) to varPtr(%x : !llvm.ptr) varType(f64) {name = "x", dataClause = #acc<data_clause acc_copy>}
  llvm.return
}

// Waiting comes before the data actions; the launch is on the construct's queue and gets scratch
// memory for the gangs' parts.
// CHECK-LABEL: llvm.func @sum
// CHECK:         acc.wait(%q : i32) async(%q : i32)
// CHECK-NEXT:    %[[DX:.*]] = acc.copyin
// CHECK:         %scratch = llvm.call @__accopt_scratch
// CHECK-NEXT:    accx.launch_host @sum{{.*}}_host gangs(%{{.*}}) queue(%{{.*}}) args(%{{.*}}, %ds, %scratch) {accx.site = 1 : i32}
llvm.func @sum(%n: i32, %s: !llvm.ptr, %q: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %g = arith.constant 8 : i32
  %one = arith.constant 1.0 : f64
  %ds = acc.copyin varPtr(%s : !llvm.ptr) varType(f64) -> !llvm.ptr {name = "s", dataClause = #acc<data_clause acc_copy>}
  %r = acc.reduction varPtr(%s : !llvm.ptr) varType(f64) recipe(@reduction_add_f64) -> !llvm.ptr {name = "s"}
  acc.parallel dataOperands(%ds : !llvm.ptr) async(%q : i32) num_gangs({%g : i32}) num_workers(%c1 : i32) vector_length(%c1 : i32) wait({%q : i32}) {
    acc.loop gang reduction(%r : !llvm.ptr) control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %v = llvm.load %r : !llvm.ptr -> f64
      %w = arith.addf %v, %one : f64
      llvm.store %w, %r : f64, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  acc.copyout accPtr(%ds : !llvm.ptr) to varPtr(%s : !llvm.ptr) varType(f64) {name = "s", dataClause = #acc<data_clause acc_copy>}
  llvm.return
}

// CHECK-LABEL: llvm.func @scale{{.*}}_host(%gang_begin: i64, %gang_end: i64, %num_gangs: i64, %args: !llvm.ptr) attributes {accx.kernel, accx.typed} {
// CHECK:         %low = arith.select
// CHECK:         %high = arith.select
// CHECK:         scf.for %i = %{{.*}} to %{{.*}} step %{{.*}} : i32 {
// CHECK:           llvm.load %{{.*}} {accx.access_groups = [0 : i32]} : !llvm.ptr -> f64
// CHECK:         } {accx.simd, accx.access_groups = [0 : i32]}
// CHECK-NEXT:    llvm.return

// Every gang starts at the identity and saves its part; the last one folds them in order.
// CHECK-LABEL: llvm.func @sum{{.*}}_host
// CHECK:         %[[PART:.*]] = llvm.alloca %{{.*}} x f64
// CHECK:         scf.for %gang = %gang_begin{{.*}} to %gang_end
// CHECK:           llvm.store %{{.*}}, %[[PART]] : f64, !llvm.ptr
// CHECK:           scf.for %i
// CHECK:           %partials = llvm.getelementptr
// CHECK:         llvm.atomicrmw add %scratch{{.*}}, %{{.*}} acq_rel
// CHECK:         scf.if %is_last{{.*}} {
// CHECK:           scf.for %part
// CHECK:             %combined{{.*}} = arith.addf
// CHECK:           llvm.store %{{.*}}, %scratch{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr
