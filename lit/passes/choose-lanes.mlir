// RUN: accopt %s -p choose-lanes | filecheck %s
// RUN: accopt %s -p "choose-lanes{target=host}" | filecheck %s --check-prefix HOST
// RUN: accopt %s -p "choose-lanes{elements=2}" | filecheck %s --check-prefix TWO

// Rows of a sparse matrix between two neighbouring offsets: a version per number of lanes; the queue
// is the same value for the data operation and all versions.
// CHECK:       llvm.func @__accopt_mean_trip(!llvm.ptr, !llvm.ptr, i64, i64, i32) -> i64
// CHECK-LABEL: llvm.func @sparse
// CHECK:         %[[Q:.*]] = arith.constant 2 : i64
// CHECK:         %o = acc.present
// CHECK:         %first = llvm.getelementptr %o[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i32
// CHECK:         %past = llvm.getelementptr %o[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i32
// CHECK:         %mean = llvm.call @__accopt_mean_trip(%first, %past, %{{.*}}, %c4{{.*}}, %c4{{.*}})
// CHECK:         %fits = arith.cmpi sle, %mean, %c48 : i64
// CHECK:         scf.if %fits {
// CHECK:           acc.parallel dataOperands(%o : !llvm.ptr) async(%[[Q]] : i64) num_workers(%c64 : i32) vector_length(%c4{{.*}} : i32)
// CHECK:             acc.loop gang worker
// CHECK:             acc.loop vector
// CHECK:             accx.note = "the version for rows of at most 48 iterations on average", accx.schedule = #accx.schedule<elements = 4>
// CHECK:         } else {
// CHECK:           scf.if %fits_1 {
// CHECK:             acc.parallel {{.*}}num_workers(%c32 : i32) vector_length(%c8{{.*}} : i32)
// CHECK:           } else {
// CHECK:             scf.if %fits_2 {
// CHECK:               acc.parallel {{.*}}num_workers(%c16{{.*}} : i32) vector_length(%c16{{.*}} : i32)
// CHECK:             } else {
// CHECK:               acc.parallel {{.*}}num_workers(%c8{{.*}} : i32) vector_length(%c32{{.*}} : i32)
// CHECK:               accx.note = "the version for rows of any length"
// CHECK:         acc.delete accPtr(%o
// HOST-NOT: __accopt_mean_trip
// TWO: accx.schedule = #accx.schedule<elements = 2>
llvm.func @sparse(%rows: i32, %offsets: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %o = acc.present varPtr(%offsets : !llvm.ptr) varType(i32) -> !llvm.ptr {name = "offsets"}
  acc.parallel dataOperands(%o : !llvm.ptr) async(%c2 : i32) {
    acc.loop gang worker control(%i : i32) = (%c0 : i32) to (%rows : i32) step (%c1 : i32) {
      %i64 = arith.extsi %i : i32 to i64
      %p = llvm.getelementptr %o[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      %start = llvm.load %p : !llvm.ptr -> i32
      %next = arith.addi %i, %c1 : i32
      %next64 = arith.extsi %next : i32 to i64
      %q = llvm.getelementptr %o[%next64] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      %end = llvm.load %q : !llvm.ptr -> i32
      acc.loop vector control(%j : i32) = (%start : i32) to (%end : i32) step (%c1 : i32) {
        "test.op"(%j) : (i32) -> ()
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  acc.delete accPtr(%o : !llvm.ptr) {name = "offsets"}
  llvm.return
}

// A number of entries per row counts from 0: no array of lower bounds. The construct's private variable
// is made again for each version.
// CHECK-LABEL: llvm.func @counts
// CHECK:         %[[NULL:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK:         llvm.call @__accopt_mean_trip(%[[NULL]], %past{{.*}}, %{{.*}})
// CHECK:         scf.if
// CHECK:           %t{{.*}} = acc.private
// CHECK:           acc.parallel {{.*}}private(%t{{.*}} : !llvm.ptr)
llvm.func @counts(%rows: i32, %lengths: !llvm.ptr, %var: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %o = acc.present varPtr(%lengths : !llvm.ptr) varType(i64) -> !llvm.ptr {name = "lengths"}
  %t = acc.private varPtr(%var : !llvm.ptr) varType(f32) recipe(@private_f32) -> !llvm.ptr {name = "t"}
  acc.parallel dataOperands(%o : !llvm.ptr) private(%t : !llvm.ptr) {
    acc.loop control(%i : i32) = (%c0 : i32) to (%rows : i32) step (%c1 : i32) {
      %i64 = arith.extsi %i : i32 to i64
      %p = llvm.getelementptr %o[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      %end = llvm.load %p : !llvm.ptr -> i64
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      acc.loop control(%j : i64) = (%zero : i64) to (%end : i64) step (%one : i64) {
        "test.op"(%j, %t) : (i64, !llvm.ptr) -> ()
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  acc.delete accPtr(%o : !llvm.ptr) {name = "lengths"}
  llvm.return
}

acc.private.recipe @private_f32 : !llvm.ptr init {
^bb0(%x: !llvm.ptr):
  %one = arith.constant 1 : i32
  %copy = llvm.alloca %one x f32 : (i32) -> !llvm.ptr
  acc.yield %copy : !llvm.ptr
}

// A vector length that the user gave, and trip counts known before the construct, leave nothing to
// choose.
// CHECK-LABEL: llvm.func @given
// CHECK-NOT:     scf.if
// CHECK:         llvm.return
llvm.func @given(%rows: i32, %lengths: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %o = acc.present varPtr(%lengths : !llvm.ptr) varType(i32) -> !llvm.ptr {name = "lengths"}
  acc.parallel dataOperands(%o : !llvm.ptr) vector_length(%c64 : i32) {
    acc.loop gang worker control(%i : i32) = (%c0 : i32) to (%rows : i32) step (%c1 : i32) {
      %i64 = arith.extsi %i : i32 to i64
      %p = llvm.getelementptr %o[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      %end = llvm.load %p : !llvm.ptr -> i32
      acc.loop vector control(%j : i32) = (%c0 : i32) to (%end : i32) step (%c1 : i32) {
        "test.op"(%j) : (i32) -> ()
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  acc.parallel dataOperands(%o : !llvm.ptr) {
    acc.loop gang worker control(%i : i32) = (%c0 : i32) to (%rows : i32) step (%c1 : i32) {
      acc.loop vector control(%j : i32) = (%c0 : i32) to (%rows : i32) step (%c1 : i32) {
        "test.op"(%j) : (i32) -> ()
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  acc.delete accPtr(%o : !llvm.ptr) {name = "lengths"}
  llvm.return
}
