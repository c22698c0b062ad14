// RUN: accopt %s -p split-kernels | filecheck %s

llvm.mlir.global external @a() : !llvm.array<16 x f32>
llvm.mlir.global external @b() : !llvm.array<16 x f32>

// Two loops and a statement between them: three constructs in order inside one data region; the
// plain loops are proven independent, the temporary becomes private, the sum a reduction.
// CHECK-LABEL: llvm.func @pieces
// CHECK:         %a_dev = acc.copyin varPtr(%a : !llvm.ptr)
// CHECK:         acc.data dataOperands(
// CHECK:           acc.parallel {
// CHECK:             %t_1 = acc.private varPtr(%t : !llvm.ptr) varType(f32) recipe(@private_f32)
// CHECK:             acc.loop private(%t_1 : !llvm.ptr)
// CHECK:               llvm.store %{{.*}}, %t_1 : f32, !llvm.ptr
// CHECK:             found independent
// CHECK:           } attributes {accx.from_kernels}
// CHECK:           acc.parallel num_gangs({%one : i32}) num_workers(%one : i32) vector_length(%one : i32) {
// CHECK:             llvm.store
// CHECK-NEXT:        acc.yield
// CHECK:           acc.parallel {
// CHECK:             acc.reduction varPtr(%s : !llvm.ptr) varType(f32) recipe(@reduction_add_f32)
// CHECK:             acc.loop reduction(
// CHECK:           acc.terminator
// CHECK:         acc.copyout accPtr(%a_dev : !llvm.ptr)
llvm.func @pieces(%n: i32) {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %s = llvm.alloca %c1 x f32 : (i32) -> !llvm.ptr
  %t = llvm.alloca %c1 x f32 : (i32) -> !llvm.ptr
  acc.kernels {
    %a = llvm.mlir.addressof @a : !llvm.ptr
    %b = llvm.mlir.addressof @b : !llvm.ptr
    scf.for %i = %c0 to %n step %c1 : i32 {
      %i64 = arith.extsi %i : i32 to i64
      %p = llvm.getelementptr inbounds %a[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %q = llvm.getelementptr inbounds %b[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %p : !llvm.ptr -> f32
      llvm.store %v, %t : f32, !llvm.ptr
      %v2 = llvm.load %t : !llvm.ptr -> f32
      llvm.store %v2, %q : f32, !llvm.ptr
    }
    %zero = arith.constant 0.0 : f32
    llvm.store %zero, %a : f32, !llvm.ptr
    scf.for %i = %c0 to %n step %c1 : i32 {
      %i64 = arith.extsi %i : i32 to i64
      %p = llvm.getelementptr inbounds %a[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %p : !llvm.ptr -> f32
      %w = llvm.load %s : !llvm.ptr -> f32
      %w2 = arith.addf %w, %v : f32
      llvm.store %w2, %s : f32, !llvm.ptr
    }
    acc.terminator
  }
  llvm.return
}

// One nest: the kernels construct becomes that parallel construct, with its own clauses.
// CHECK-LABEL: llvm.func @single
// CHECK-NOT:     acc.data
// CHECK:         acc.parallel dataOperands(%x_dev : !llvm.ptr) num_gangs({%{{.*}} : i32}) {
llvm.func @single(%n: i32, %x: !llvm.ptr {llvm.noalias}) {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %v = arith.constant 0.0 : f32
  %x_dev = acc.present varPtr(%x : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "x"}
  acc.kernels dataOperands(%x_dev : !llvm.ptr) num_gangs({%n : i32}) {
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %i64 = arith.extsi %i : i32 to i64
      %p = llvm.getelementptr inbounds %x_dev[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %v, %p : f32, !llvm.ptr
      acc.yield
    } attributes {auto_ = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.terminator
  }
  llvm.return
}

// Auto loops that are not proven stay in order and say why, or are left to a test in front of the
// construct: parameters that may overlap, and a recurrence.
// CHECK-LABEL: llvm.func @refused
// CHECK:         attributes {accx.conditional, {{.*}}independent
// CHECK:         auto: iterations may depend on each other through 'x'
llvm.func @refused(%n: i32, %x: !llvm.ptr, %y: !llvm.ptr) {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %one = arith.constant 1 : i64
  acc.parallel {
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %i64 = arith.extsi %i : i32 to i64
      %p = llvm.getelementptr inbounds %x[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %q = llvm.getelementptr inbounds %y[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %p : !llvm.ptr -> f32
      llvm.store %v, %q : f32, !llvm.ptr
      acc.yield
    } attributes {auto_ = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %i64 = arith.extsi %i : i32 to i64
      %next = arith.addi %i64, %one : i64
      %p = llvm.getelementptr inbounds %x[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %q = llvm.getelementptr inbounds %x[%next] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %p : !llvm.ptr -> f32
      llvm.store %v, %q : f32, !llvm.ptr
      acc.yield
    } attributes {auto_ = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}

// A value that one piece computes and a later loop needs goes through a variable on the device.
// CHECK-LABEL: llvm.func @shared_value
// CHECK:         %k = llvm.alloca
// CHECK:         %k_dev = acc.create varPtr(%k : !llvm.ptr)
// CHECK:         acc.parallel num_gangs({%one{{.*}} : i32}) num_workers
// CHECK:           %[[K:.*]] = llvm.load %c
// CHECK-NEXT:      llvm.store %[[K]], %k : i32
// CHECK:         acc.parallel {
// CHECK:           %[[K2:.*]] = llvm.load %k : !llvm.ptr -> i32
// CHECK:           acc.loop control(%{{.*}} : i32) = (%{{.*}} : i32) to (%[[K2]] : i32)
// CHECK:         acc.delete accPtr(%k_dev : !llvm.ptr)
llvm.func @shared_value(%x: !llvm.ptr {llvm.noalias}, %c: !llvm.ptr {llvm.noalias}) {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %v = arith.constant 0.0 : f32
  acc.kernels {
    %k = llvm.load %c : !llvm.ptr -> i32
    llvm.store %c0, %c : i32, !llvm.ptr
    acc.loop control(%i : i32) = (%c0 : i32) to (%k : i32) step (%c1 : i32) {
      %i64 = arith.extsi %i : i32 to i64
      %p = llvm.getelementptr inbounds %x[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %v, %p : f32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.terminator
  }
  llvm.return
}

// Code after a loop that stays in order reads what the loop wrote: the load stays behind it, and so
// does the comparison made of it.
// CHECK-LABEL: llvm.func @reads_behind
// CHECK:         acc.parallel {
// CHECK:           found independent
// CHECK:         acc.parallel
// CHECK:           scf.for
// CHECK:           } {accx.why = "iterations may depend on each other
// CHECK:           %last = llvm.load
// CHECK-NEXT:      llvm.store %last
// CHECK-NEXT:      %again = llvm.load
// CHECK-NEXT:      %less = arith.cmpi slt, %last, %again
llvm.func @reads_behind(%n: i32) {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %s = llvm.alloca %c1 x i32 : (i32) -> !llvm.ptr
  %t = llvm.alloca %c1 x i1 : (i32) -> !llvm.ptr
  acc.kernels {
    %a = llvm.mlir.addressof @a : !llvm.ptr
    scf.for %i = %c0 to %n step %c1 : i32 {
      %p = llvm.getelementptr inbounds %a[%i] : (!llvm.ptr, i32) -> !llvm.ptr, i32
      llvm.store %i, %p : i32, !llvm.ptr
    }
    scf.for %i = %c1 to %n step %c1 : i32 {
      %p = llvm.getelementptr inbounds %a[%i] : (!llvm.ptr, i32) -> !llvm.ptr, i32
      %q = llvm.getelementptr inbounds %p[-1] : (!llvm.ptr) -> !llvm.ptr, i32
      %v = llvm.load %q : !llvm.ptr -> i32
      llvm.store %v, %p : i32, !llvm.ptr
    }
    %p = llvm.getelementptr inbounds %a[3] : (!llvm.ptr) -> !llvm.ptr, i32
    %last = llvm.load %p : !llvm.ptr -> i32
    llvm.store %last, %s : i32, !llvm.ptr
    %again = llvm.load %s : !llvm.ptr -> i32
    %less = arith.cmpi slt, %last, %again : i32
    llvm.store %less, %t : i1, !llvm.ptr
    acc.terminator
  }
  %wanted = llvm.load %t : !llvm.ptr -> i1
  "test.op"(%wanted) : (i1) -> ()
  llvm.return
}

// A loop that stays in order around one that does not runs on the host, which knows its bounds: a kernel
// for each of its iterations, all data on the device throughout. The final value of a loop variable that
// nobody reads is not computed.
// CHECK-LABEL: llvm.func @steps
// CHECK:         acc.data
// CHECK:           scf.for %t{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} : i32 {
// CHECK-NEXT:        acc.parallel {
// CHECK:               acc.loop control
// CHECK-NOT:           llvm.store %n
// CHECK:             } attributes {accx.from_kernels}
// CHECK-NEXT:      }
// CHECK-NEXT:      acc.terminator
llvm.func @steps(%n: i32, %m: i32, %x: !llvm.ptr) {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %half = arith.constant 0.5 : f32
  %last = llvm.alloca %c1 x i32 : (i32) -> !llvm.ptr
  acc.kernels {
    scf.for %t = %c0 to %m step %c1 : i32 {
      scf.for %i = %c0 to %n step %c1 : i32 {
        %row = arith.muli %t, %n overflow<nsw> : i32
        %at = arith.addi %row, %i overflow<nsw> : i32
        %p = llvm.getelementptr inbounds %x[%at] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        %v = llvm.load %p : !llvm.ptr -> f32
        %w = arith.mulf %v, %half : f32
        %after = arith.addi %at, %n overflow<nsw> : i32
        %q = llvm.getelementptr inbounds %x[%after] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        llvm.store %w, %q : f32, !llvm.ptr
      }
      llvm.store %n, %last : i32, !llvm.ptr
    }
    acc.terminator
  }
  llvm.return
}

// Both loops name gang and vector, for blocks of two dimensions: the outer one keeps gang, the inner one vector.
// CHECK-LABEL: llvm.func @blocks
// CHECK:         acc.loop gang control(%{{.*}} : i32)
// CHECK:           acc.loop vector control(%{{.*}} : i32)
llvm.func @blocks(%n: i32) {
  acc.kernels {
    %a = llvm.mlir.addressof @a : !llvm.ptr
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c8 = arith.constant 8 : i32
    %c16 = arith.constant 16 : i32
    acc.loop gang({num=%c8 : i32}) vector(%c16 : i32) control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop gang vector(%c16 : i32) control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        %row = arith.muli %i, %n : i32
        %at = arith.addi %row, %j : i32
        %p = llvm.getelementptr inbounds %a[%at] : (!llvm.ptr, i32) -> !llvm.ptr, i32
        llvm.store %i, %p : i32, !llvm.ptr
        acc.yield
      } attributes {inclusiveUpperbound = array<i1: false>, independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {inclusiveUpperbound = array<i1: false>, independent = [#acc.device_type<none>]}
    acc.terminator
  }
  llvm.return
}
