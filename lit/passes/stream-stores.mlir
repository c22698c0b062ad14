// RUN: accopt %s -p stream-stores | filecheck %s
// RUN: accopt %s -p 'stream-stores{bytes=4096}' | filecheck %s --check-prefix=LIMIT

// CHECK: llvm.func internal @__accopt_streams(%{{.*}}: i64, %[[STENCIL:.*]]: i1) -> i1
// CHECK:   llvm.call @__accopt_team_cache(%[[STENCIL]])
// CHECK: llvm.func internal @__accopt_stream(
// CHECK:   llvm.store {{.*}}nontemporal
// LIMIT-NOT: @__accopt_team_cache
// LIMIT: arith.constant 4096 : i64

// The launch's bytes are those of all its gangs; the results of 1024 iterations are gathered.
// CHECK-LABEL: llvm.func @doubled
// CHECK:         %gathered = llvm.alloca %{{.*}} x !llvm.array<1024 x f64>
// CHECK:         %iterations = arith.divsi
// CHECK:         %[[LARGE:.*]] = llvm.call @__accopt_streams(%bytes{{[_0-9]*}}, %{{.*}})
// CHECK:         scf.if
// CHECK:           scf.for %start = %{{.*}} step %c1024
// CHECK:             scf.for %k
// CHECK:               llvm.store %{{.*}} {accx.access_groups = [0 : i32]}
// CHECK:             } {accx.simd
// CHECK:             llvm.call @__accopt_stream(
// CHECK:         } else {
// CHECK:           scf.for %{{.*}} = %lo to %hi
// CHECK:         llvm.fence seq_cst
// CHECK-NEXT:  }
// CHECK-NEXT:  llvm.return
llvm.func @doubled(%begin: i64, %end: i64, %gangs: i64, %args: !llvm.ptr) attributes {accx.kernel} {
  %lo = arith.trunci %begin : i64 to i32
  %hi = arith.trunci %end : i64 to i32
  %c1 = arith.constant 1 : i32
  %a = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %b_at = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %b = llvm.load %b_at : !llvm.ptr -> !llvm.ptr
  scf.for %i = %lo to %hi step %c1 : i32 {
    %p = llvm.getelementptr %a[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f64
    %v = llvm.load %p {accx.access_groups = [0 : i32]} : !llvm.ptr -> f64
    %w = arith.addf %v, %v : f64
    %q = llvm.getelementptr %b[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f64
    llvm.store %w, %q {accx.access_groups = [0 : i32]} : f64, !llvm.ptr
  } {accx.simd, accx.access_groups = [0 : i32]}
  llvm.return
}

// A row that is copied, if it is not short: one operation, of any type, also within the array. Rows of 100 stay loops, and so do
// copies to every second element, or of one element to a row.
// CHECK-LABEL: llvm.func @copies
// CHECK:         %long{{.*}} = arith.cmpi sge, %trips{{.*}}, %c256
// CHECK:         scf.if %long{{[_0-9]*}}
// CHECK:           %[[TO:.*]] = llvm.getelementptr %b{{.*}}[%lo
// CHECK:           %[[FROM:.*]] = llvm.getelementptr %a{{.*}}[%lo
// CHECK:           %[[BYTES:.*]] = arith.muli %trips{{.*}}, %c2
// CHECK:           "llvm.intr.memmove"(%[[TO]], %[[FROM]], %[[BYTES]])
// CHECK:         } else {
// CHECK:           scf.for %i{{.*}} = %lo{{.*}} to %hi
// CHECK:         }
// CHECK-NOT:     memmove
llvm.func @copies(%begin: i64, %end: i64, %gangs: i64, %args: !llvm.ptr) attributes {accx.kernel} {
  %lo = arith.trunci %begin : i64 to i32
  %hi = arith.trunci %end : i64 to i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c100 = arith.constant 100 : i32
  %a = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %b = llvm.getelementptr %a[4096] : (!llvm.ptr) -> !llvm.ptr, i16
  scf.for %i = %lo to %hi step %c1 : i32 {
    %p = llvm.getelementptr %a[%i] : (!llvm.ptr, i32) -> !llvm.ptr, i16
    %v = llvm.load %p : !llvm.ptr -> i16
    %q = llvm.getelementptr %b[%i] : (!llvm.ptr, i32) -> !llvm.ptr, i16
    llvm.store %v, %q : i16, !llvm.ptr
  } {accx.simd}
  scf.for %i = %c0 to %c100 step %c1 : i32 {
    %p = llvm.getelementptr %a[%i] : (!llvm.ptr, i32) -> !llvm.ptr, i16
    %v = llvm.load %p : !llvm.ptr -> i16
    %q = llvm.getelementptr %b[%i] : (!llvm.ptr, i32) -> !llvm.ptr, i16
    llvm.store %v, %q : i16, !llvm.ptr
  } {accx.simd}
  scf.for %i = %lo to %hi step %c1 : i32 {
    %even = arith.muli %i, %c2 : i32
    %p = llvm.getelementptr %a[%i] : (!llvm.ptr, i32) -> !llvm.ptr, i16
    %v = llvm.load %p : !llvm.ptr -> i16
    %q = llvm.getelementptr %b[%even] : (!llvm.ptr, i32) -> !llvm.ptr, i16
    llvm.store %v, %q : i16, !llvm.ptr
  } {accx.simd}
  scf.for %i = %lo to %hi step %c1 : i32 {
    %v = llvm.load %a : !llvm.ptr -> i16
    %q = llvm.getelementptr %b[%i] : (!llvm.ptr, i32) -> !llvm.ptr, i16
    llvm.store %v, %q : i16, !llvm.ptr
  } {accx.simd}
  llvm.return
}

// A copy to another array of words of 4 or 8 bytes: non-temporal stores if the arrays exceed the caches, without a buffer.
// CHECK-LABEL: llvm.func @moved
// CHECK-NOT:     llvm.array
// CHECK:         %[[ONCE:.*]] = arith.constant false
// CHECK:         %[[MANY:.*]] = llvm.call @__accopt_streams(%bytes{{[_0-9]*}}, %[[ONCE]])
// CHECK:         %[[LARGE:.*]] = arith.andi %[[MANY]]
// CHECK:         scf.if %[[LARGE]]
// CHECK:           llvm.call @__accopt_stream(%[[TO:.*]], %[[FROM:.*]], %{{.*}})
// CHECK:         } else {
// CHECK:           scf.if %long{{[_0-9]*}}
// CHECK:             "llvm.intr.memmove"
// CHECK:           } else {
// CHECK:             scf.for
// CHECK:         llvm.fence seq_cst
llvm.func @moved(%begin: i64, %end: i64, %gangs: i64, %args: !llvm.ptr) attributes {accx.kernel} {
  %c1 = arith.constant 1 : i64
  %a = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %b_at = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %b = llvm.load %b_at : !llvm.ptr -> !llvm.ptr
  scf.for %i = %begin to %end step %c1 : i64 {
    %p = llvm.getelementptr %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %p : !llvm.ptr -> f32
    %q = llvm.getelementptr %b[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %v, %q : f32, !llvm.ptr
  } {accx.simd}
  llvm.return
}

// The runtime is told where an array is read at several places.
// CHECK-LABEL: llvm.func @neighbours
// CHECK:         %[[STENCIL:.*]] = arith.constant true
// CHECK:         llvm.call @__accopt_streams(%bytes{{[_0-9]*}}, %[[STENCIL]])
llvm.func @neighbours(%begin: i64, %end: i64, %gangs: i64, %args: !llvm.ptr) attributes {accx.kernel} {
  %c1 = arith.constant 1 : i64
  %a = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %b_at = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %b = llvm.load %b_at : !llvm.ptr -> !llvm.ptr
  scf.for %i = %begin to %end step %c1 : i64 {
    %p = llvm.getelementptr %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %p : !llvm.ptr -> f32
    %n = llvm.getelementptr %p[1] : (!llvm.ptr) -> !llvm.ptr, f32
    %w = llvm.load %n : !llvm.ptr -> f32
    %sum = arith.addf %v, %w : f32
    %q = llvm.getelementptr %b[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %sum, %q : f32, !llvm.ptr
  } {accx.simd}
  llvm.return
}

// What the kernel reads, what leaves gaps, and what the loop around writes again goes through the caches.
// CHECK-LABEL: llvm.func @others
// CHECK-NOT:     @__accopt_stream
llvm.func @others(%begin: i64, %end: i64, %gangs: i64, %args: !llvm.ptr) attributes {accx.kernel} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %one = arith.constant 1.0 : f64
  %a = llvm.load %args : !llvm.ptr -> !llvm.ptr
  scf.for %i = %begin to %end step %c1 : i64 {
    %p = llvm.getelementptr %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f64
    %v = llvm.load %p : !llvm.ptr -> f64
    %w = arith.addf %v, %one : f64
    llvm.store %w, %p : f64, !llvm.ptr
  } {accx.simd}
  %b_at = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %b = llvm.load %b_at : !llvm.ptr -> !llvm.ptr
  scf.for %i = %begin to %end step %c1 : i64 {
    %even = arith.muli %i, %c2 : i64
    %p = llvm.getelementptr %b[%even] : (!llvm.ptr, i64) -> !llvm.ptr, f64
    llvm.store %one, %p : f64, !llvm.ptr
  } {accx.simd}
  scf.for %t = %c0 to %gangs step %c1 : i64 {
    scf.for %i = %begin to %end step %c1 : i64 {
      %p = llvm.getelementptr %b[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f64
      llvm.store %one, %p : f64, !llvm.ptr
    } {accx.simd}
  }
  llvm.return
}
