// RUN: accopt %s -p expand-scans | filecheck %s
// RUN: accopt %s -p "expand-scans{target=host}" | filecheck %s --check-prefix=HOST

// Out[i] = out[i-1] + in[i] from i = 5: one operation, from the elements before the first.
// CHECK-LABEL: llvm.func @inclusive
// CHECK:       acc.parallel
// CHECK:         %wide = arith.extsi %c5 : i32 to i64
// CHECK:         %to = llvm.getelementptr %out[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, i32
// CHECK:         %from = llvm.getelementptr %in[%wide_1] : (!llvm.ptr, i64) -> !llvm.ptr, i32
// CHECK:         %to_1 = llvm.getelementptr %to[-4] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK:         %from_1 = llvm.getelementptr %from[-4] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK:         %steps = arith.subi %n_1, %c5_1 : i64
// CHECK-NEXT:    accx.scan "add" %to_1, %from_1 for %steps {gangs} : i32 to i32
// CHECK-NEXT:    acc.yield

// On the host the first gang runs it.
// HOST-LABEL: llvm.func @inclusive
// HOST:       acc.loop gang control(%first : i32) = (%c0 : i32) to (%c1_1 : i32)
// HOST:           scf.if %some {
// HOST:             %start = llvm.load
// HOST:             scf.for %step = %c0_1 to %steps step %c1_2 iter_args(%sum = %start) -> (i32) : i64 {
// HOST:               %element = llvm.load
// HOST:               arith.addi %sum, %element : i32
// HOST:               llvm.store
llvm.func @inclusive(%n: i32, %in: !llvm.ptr, %out: !llvm.ptr) {
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  acc.parallel {
    acc.loop gang vector control(%i : i32) = (%c5 : i32) to (%n : i32) step (%c1 : i32) {
      %wide = arith.extsi %i : i32 to i64
      %to = llvm.getelementptr %out[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      %from = llvm.getelementptr %in[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      accx.scan_step "add" %to, %from : i32 to i32
      "test.op"(%to, %from) : (!llvm.ptr, !llvm.ptr) -> ()
      acc.yield
    } attributes {independent = [#acc.device_type<none>], accx.why = "as written"}
    acc.yield
  }
  llvm.return
}

// Exclusive, shared by lanes: the source stays where the first iteration reads it. A loop that no
// threads share is a plain one, and stores its identity if it runs at all.
// CHECK-LABEL: llvm.func @exclusive
// CHECK:         accx.scan "max" %to_3, %in_1 for %steps_1, %id : f64 : f32 to f64
// By one thread, each element is read before the one in its place is written.
// CHECK:         scf.if %some {
// CHECK:           %[[first:[a-z_0-9]+]] = llvm.load {{.*}} -> f32
// CHECK:           llvm.store %id,
// CHECK:           scf.for
// CHECK:             %[[ahead:[a-z_0-9]+]] = llvm.load {{.*}} -> f32
// CHECK:             arith.extf %[[ahead]]
// CHECK:             %[[sum:[a-z_0-9]+]] = arith.maxnumf
// CHECK:             llvm.store %[[sum]],
// HOST-LABEL: llvm.func @exclusive
// HOST-NOT:     accx.scan
llvm.func @exclusive(%n: i32, %id: f64, %in: !llvm.ptr, %out: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    acc.loop gang control(%r : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop vector control(%i : i32) = (%c1 : i32) to (%n : i32) step (%c1 : i32) {
        %to = llvm.getelementptr %out[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f64
        accx.scan_step "max" %to, %in, %id : f64 : f32 to f64
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.loop control(%i : i32) = (%c1 : i32) to (%n : i32) step (%c1 : i32) {
        %to = llvm.getelementptr %out[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f64
        accx.scan_step "max" %to, %in, %id : f64 : f32 to f64
        acc.yield
      } attributes {seq = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}
