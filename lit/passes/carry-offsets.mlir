// RUN: accopt %s -p carry-offsets | filecheck %s
// RUN: accopt %s -p 'carry-offsets{enabled=false}' | filecheck %s --check-prefix=OFF

// OFF-NOT: distance

// Down a column, from the element of the first iteration; a row of another array, which moves by 8 bytes, stays.
// CHECK-LABEL: llvm.func @column
// CHECK:         %[[EACH:.*]] = arith.muli %bytes, %{{.*}} : i64
// CHECK:         %first = llvm.getelementptr %a[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK:         scf.for %j = %lo to %hi step %c2 iter_args(%distance = %{{.*}}) -> (i64) : i32
// CHECK:           %element = llvm.getelementptr inbounds %first[%distance] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK:           llvm.load %element
// CHECK:           llvm.getelementptr inbounds %b[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, f64
// CHECK:           %[[NEXT:.*]] = arith.addi %distance, %[[EACH]] overflow<nsw> : i64
// CHECK-NEXT:      scf.yield %[[NEXT]] : i64
llvm.func @column(%a: !llvm.ptr, %b: !llvm.ptr, %lo: i32, %hi: i32, %k: i64, %bytes: i64) attributes {accx.kernel} {
  %c2 = arith.constant 2 : i32
  scf.for %j = %lo to %hi step %c2 : i32 {
    %j1 = arith.extsi %j : i32 to i64
    %at = arith.muli %j1, %bytes overflow<nsw> : i64
    %row = llvm.getelementptr inbounds %a[%at] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %element = llvm.getelementptr inbounds %row[%k] : (!llvm.ptr, i64) -> !llvm.ptr, f64
    %x = llvm.load %element : !llvm.ptr -> f64
    %q = llvm.getelementptr inbounds %b[%j1] : (!llvm.ptr, i64) -> !llvm.ptr, f64
    llvm.store %x, %q : f64, !llvm.ptr
  }
  llvm.return
}

// Two columns share the distance; where an access does not always run, its address may be outside of the array.
// The sum is carried as before.
// CHECK-LABEL: llvm.func @shared
// CHECK:         %[[ONE:.*]] = llvm.getelementptr %[[A:.*]][%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK:         %[[TWO:.*]] = llvm.getelementptr %[[A]][%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK:         %r, %{{.*}} = scf.for {{.*}} iter_args(%s = %{{.*}}, %[[D:distance[_0-9]*]] = %{{.*}}) -> (f64, i64)
// CHECK:           llvm.getelementptr inbounds %[[ONE]][%[[D]]]
// CHECK:           scf.if
// CHECK:             llvm.getelementptr %[[TWO]][%[[D]]]
// CHECK:           scf.yield %{{.*}}, %{{.*}} : f64, i64
// CHECK:         llvm.store %r, %b
llvm.func @shared(%a: !llvm.ptr, %b: !llvm.ptr, %n: i64, %k: i64, %c: i1) attributes {accx.kernel} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %zero = arith.constant 0.0 : f64
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%s = %zero) -> (f64) : i64 {
    %at = arith.muli %j, %n overflow<nsw> : i64
    %p = llvm.getelementptr inbounds %a[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f64
    %x = llvm.load %p : !llvm.ptr -> f64
    scf.if %c {
      %there = arith.addi %at, %k overflow<nsw> : i64
      %q = llvm.getelementptr inbounds %a[%there] : (!llvm.ptr, i64) -> !llvm.ptr, f64
      llvm.store %x, %q : f64, !llvm.ptr
    }
    %t = arith.addf %s, %x : f64
    scf.yield %t : f64
  }
  llvm.store %r, %b : f64, !llvm.ptr
  llvm.return
}

// Neither a distance that changes, nor one that is constant, nor a loaded pointer, nor few iterations.
// CHECK-LABEL: llvm.func @others
// CHECK-NOT:     distance
llvm.func @others(%a: !llvm.ptr, %n: i64, %m: i64) attributes {accx.kernel} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c8 = arith.constant 8 : i64
  %c40 = arith.constant 40 : i64
  %zero = arith.constant 0.0 : f64
  scf.for %j = %c0 to %n step %c1 : i64 {
    %square = arith.muli %j, %j overflow<nsw> : i64
    %p = llvm.getelementptr inbounds %a[%square] : (!llvm.ptr, i64) -> !llvm.ptr, f64
    llvm.store %zero, %p : f64, !llvm.ptr
    %five = arith.muli %j, %c40 overflow<nsw> : i64
    %q = llvm.getelementptr inbounds %a[%five] : (!llvm.ptr, i64) -> !llvm.ptr, f64
    llvm.store %zero, %q : f64, !llvm.ptr
    %r = llvm.getelementptr inbounds %a[%j] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    %row = llvm.load %r : !llvm.ptr -> !llvm.ptr
    %far = arith.muli %j, %m overflow<nsw> : i64
    %s = llvm.getelementptr inbounds %row[%far] : (!llvm.ptr, i64) -> !llvm.ptr, f64
    llvm.store %zero, %s : f64, !llvm.ptr
  }
  scf.for %j = %c0 to %c8 step %c1 : i64 {
    %at = arith.muli %j, %m overflow<nsw> : i64
    %p = llvm.getelementptr inbounds %a[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f64
    llvm.store %zero, %p : f64, !llvm.ptr
  }
  llvm.return
}

// A loop around another one, and a function that is not a kernel, stay.
// CHECK-LABEL: llvm.func @outer
// CHECK-NOT:     distance
llvm.func @outer(%a: !llvm.ptr, %n: i64) attributes {accx.kernel} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %zero = arith.constant 0.0 : f64
  scf.for %j = %c0 to %n step %c1 : i64 {
    %at = arith.muli %j, %n overflow<nsw> : i64
    %p = llvm.getelementptr inbounds %a[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f64
    llvm.store %zero, %p : f64, !llvm.ptr
    scf.for %k = %c0 to %n step %c1 : i64 {
      llvm.store %zero, %p : f64, !llvm.ptr
    }
  }
  llvm.return
}
llvm.func @plain(%a: !llvm.ptr, %n: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %zero = arith.constant 0.0 : f64
  scf.for %j = %c0 to %n step %c1 : i64 {
    %at = arith.muli %j, %n overflow<nsw> : i64
    %p = llvm.getelementptr inbounds %a[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f64
    llvm.store %zero, %p : f64, !llvm.ptr
  }
  llvm.return
}
