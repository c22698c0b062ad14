// RUN: accopt %s -p coarsen-threads,convert-acc-compute-to-gpu | filecheck %s

acc.reduction.recipe @reduction_add_f32 : !llvm.ptr reduction_operator <add> init {
^bb0(%a: !llvm.ptr):
  %one = arith.constant 1 : i32
  %copy = llvm.alloca %one x f32 : (i32) -> !llvm.ptr
  %first = arith.constant 0.0 : f32
  llvm.store %first, %copy : f32, !llvm.ptr
  acc.yield %copy : !llvm.ptr
} combiner {
^bb0(%a: !llvm.ptr, %b: !llvm.ptr):
  %x = llvm.load %a : !llvm.ptr -> f32
  %y = llvm.load %b : !llvm.ptr -> f32
  %both = arith.addf %x, %y : f32
  llvm.store %both, %a : f32, !llvm.ptr
  acc.yield %a : !llvm.ptr
}
acc.private.recipe @private_tmp : !llvm.ptr init {
^bb0(%a: !llvm.ptr):
  %one = arith.constant 1 : i32
  %copy = llvm.alloca %one x !llvm.array<16 x i32> : (i32) -> !llvm.ptr
  acc.yield %copy : !llvm.ptr
}

// A streaming loop: the construct becomes a launch with the gangs as grid and the lanes as block.
// It is on the queue of the device, for which the host need not wait. Full tiles run two elements side by side, loads before stores; the rest has a guarded loop.

// CHECK-LABEL: llvm.func @stream
// CHECK:         %[[X:[a-z_0-9]+]] = acc.present varPtr(%x : !llvm.ptr)
// CHECK:         %[[QUEUE:[a-z_0-9]+]] = arith.constant -1073741824 : i64
// CHECK-NEXT:    "gpu.launch_func"(%{{.*}}, %n, %[[X]], %{{.*}}, %[[QUEUE]]) <{kernel = @accopt_kernels::@stream_kernel
llvm.func @stream(%n: i32, %x: !llvm.ptr {llvm.noalias}, %y: !llvm.ptr {llvm.noalias}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %c128 = arith.constant 128 : i32
  %dx = acc.present varPtr(%x : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "x"}
  %dy = acc.present varPtr(%y : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "y"}
  acc.parallel dataOperands(%dx, %dy : !llvm.ptr, !llvm.ptr) num_gangs({%c8 : i32}) num_workers(%c1 : i32) vector_length(%c128 : i32) {
    acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %p = llvm.getelementptr %dx[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %v = llvm.load %p : !llvm.ptr -> f32
      %q = llvm.getelementptr %dy[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      llvm.store %v, %q : f32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>, accx.schedule = #accx.schedule<elements = 2>}
    acc.yield
  }
  llvm.return
}

// What every lane computes for itself is not predicated; the store outside the vector loop is, and
// barriers separate it from the accesses of the vector loop. None follows the last access.

llvm.func @redundant(%n: i32, %x: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %c128 = arith.constant 128 : i32
  %dx = acc.present varPtr(%x : !llvm.ptr) varType(i32) -> !llvm.ptr {name = "x"}
  acc.parallel dataOperands(%dx : !llvm.ptr) num_gangs({%c8 : i32}) num_workers(%c1 : i32) vector_length(%c128 : i32) {
    %old = llvm.load %dx : !llvm.ptr -> i32
    %new = arith.addi %old, %c1 : i32
    llvm.store %new, %dx : i32, !llvm.ptr
    acc.loop vector control(%i : i32) = (%c1 : i32) to (%n : i32) step (%c1 : i32) {
      %v = llvm.load %dx : !llvm.ptr -> i32
      %q = llvm.getelementptr %dx[%i] : (!llvm.ptr, i32) -> !llvm.ptr, i32
      llvm.store %v, %q : i32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}

// An atomic outside partitioned loops happens once per gang; its result reaches the other warps
// through shared memory.

llvm.func @capture(%n: i32, %x: !llvm.ptr, %y: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %c128 = arith.constant 128 : i32
  %dx = acc.present varPtr(%x : !llvm.ptr) varType(i32) -> !llvm.ptr {name = "x"}
  %dy = acc.present varPtr(%y : !llvm.ptr) varType(i32) -> !llvm.ptr {name = "y"}
  acc.parallel dataOperands(%dx, %dy : !llvm.ptr, !llvm.ptr) num_gangs({%c8 : i32}) num_workers(%c1 : i32) vector_length(%c128 : i32) {
    %t = llvm.atomicrmw add %dx, %c1 monotonic : !llvm.ptr, i32
    acc.loop vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %q = llvm.getelementptr %dy[%i] : (!llvm.ptr, i32) -> !llvm.ptr, i32
      llvm.store %t, %q : i32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}

// A sum over gangs: a partial sum per thread, shuffles, one exchange between warps, then the gang
// with the last ticket combines the gangs' sums and folds them into the variable.

// CHECK-LABEL: llvm.func @sum
// CHECK:         %[[BYTES:[a-z_0-9]+]] = arith.addi
// CHECK:         %[[SCRATCH:[a-z_0-9]+]] = llvm.call @__accopt_scratch(%{{.*}}, %[[BYTES]])
// CHECK-NEXT:    "gpu.launch_func"({{.*}}%[[SCRATCH]], %{{[a-z_0-9]+}}) <{kernel = @accopt_kernels::@sum_kernel
llvm.func @sum(%n: i32, %x: !llvm.ptr, %s: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %c64 = arith.constant 64 : i32
  %dx = acc.present varPtr(%x : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "x"}
  %ds = acc.present varPtr(%s : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "s"}
  %r = acc.reduction varPtr(%ds : !llvm.ptr) varType(f32) recipe(@reduction_add_f32) -> !llvm.ptr {name = "s"}
  acc.parallel dataOperands(%dx, %ds : !llvm.ptr, !llvm.ptr) num_gangs({%c8 : i32}) num_workers(%c1 : i32) vector_length(%c64 : i32) {
    acc.loop gang vector reduction(%r : !llvm.ptr) control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %p = llvm.getelementptr %dx[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %v = llvm.load %p : !llvm.ptr -> f32
      %old = llvm.load %r : !llvm.ptr -> f32
      %new = arith.addf %old, %v : f32
      llvm.store %new, %r : f32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}

// A gang's private array is in shared memory, one per worker in worker mode.

llvm.func @arrays(%n: i32, %x: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c32 = arith.constant 32 : i32
  %dx = acc.present varPtr(%x : !llvm.ptr) varType(i32) -> !llvm.ptr {name = "x"}
  %null = llvm.mlir.zero : !llvm.ptr
  %tmp = acc.private varPtr(%null : !llvm.ptr) varType(!llvm.array<16 x i32>) recipe(@private_tmp) -> !llvm.ptr {name = "tmp"}
  acc.parallel dataOperands(%dx : !llvm.ptr) num_gangs({%c4 : i32}) num_workers(%c4 : i32) vector_length(%c32 : i32) {
    acc.loop gang worker private(%tmp : !llvm.ptr) control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop vector control(%j : i32) = (%c0 : i32) to (%c4 : i32) step (%c1 : i32) {
        %p = llvm.getelementptr %tmp[%j] : (!llvm.ptr, i32) -> !llvm.ptr, i32
        llvm.store %i, %p : i32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
      %v = llvm.load %tmp : !llvm.ptr -> i32
      %q = llvm.getelementptr %dx[%i] : (!llvm.ptr, i32) -> !llvm.ptr, i32
      llvm.store %v, %q : i32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}

// CHECK-LABEL: "gpu.module"() <{sym_name = "accopt_kernels"}>
// CHECK:         llvm.mlir.global internal @arrays_kernel_tmp() {addr_space = 3 : i32{{.*}}} : !llvm.array<4 x !llvm.array<16 x i32>>

// CHECK:       ^bb0(%{{.*}}: i32, %[[DX:.*]]: !llvm.ptr, %[[DY:.*]]: !llvm.ptr):
// CHECK:         scf.for %[[START:[a-z_0-9]+]] =
// CHECK:           %[[FULL:[a-z_0-9]+]] = arith.cmpi sge
// CHECK:           scf.if %[[FULL]] {
// CHECK:             llvm.load
// CHECK-NEXT:        llvm.load
// CHECK:             llvm.store
// CHECK-NEXT:        llvm.store
// CHECK-NEXT:      } else {
// CHECK:             scf.for
// CHECK:               llvm.load
// CHECK:               llvm.store
// CHECK:       {sym_name = "stream_kernel", gpu.known_block_size = array<i32: 128, 1, 1>, gpu.kernel, arg_attrs = [{}, {llvm.noalias, llvm.readonly}, {llvm.noalias}]}

// CHECK:         llvm.load
// CHECK-NEXT:    arith.addi
// CHECK-NEXT:    "gpu.barrier"
// CHECK-NEXT:    scf.if %leader
// CHECK-NEXT:      llvm.store
// CHECK:         "gpu.barrier"
// CHECK-NOT:     "gpu.barrier"
// CHECK:       sym_name = "redundant_kernel"

// CHECK:         scf.if %{{leader[_0-9]*}} {
// CHECK-NEXT:      %[[OLD:[a-z_0-9]+]] = llvm.atomicrmw add
// CHECK-NEXT:      llvm.store %[[OLD]], %{{.*}} : i32, !llvm.ptr<3>
// CHECK-NEXT:    }
// CHECK-NEXT:    "gpu.barrier"
// CHECK-NEXT:    %[[T:[a-z_0-9]+]] = llvm.load %{{.*}} : !llvm.ptr<3> -> i32
// CHECK:         scf.for
// CHECK:           llvm.store %[[T]]
// CHECK:       sym_name = "capture_kernel"

// CHECK:         nvvm.shfl.sync bfly
// CHECK:         "gpu.barrier"
// CHECK:         nvvm.shfl.sync bfly
// CHECK:         nvvm.memory.barrier <gpu>
// CHECK-NEXT:    llvm.atomicrmw add %{{scratch[_0-9]*}}, %{{.*}} syncscope("device") monotonic
// CHECK-NEXT:    nvvm.memory.barrier <gpu>
// CHECK:         scf.if
// CHECK-NEXT:      "gpu.barrier"
// CHECK:           scf.for %{{.*}} iter_args
// CHECK:       sym_name = "sum_kernel"

// CHECK:         scf.for
// CHECK:         nvvm.bar.warp.sync
// CHECK:       sym_name = "arrays_kernel"
