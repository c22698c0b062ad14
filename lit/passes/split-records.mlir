// RUN: accopt %s -p split-records --split-input-file | filecheck %s

// A copied structure is a load of each scalar, then a store of each, also where the arrays may be the same.
// CHECK-LABEL: llvm.func @copies
// CHECK:       [[X:%.*]] = llvm.load {{%.*}} : !llvm.ptr -> f32
// CHECK:       {{%.*}} = accx.element %a[%i, 1, 0] of
// CHECK-NEXT:  [[N:%.*]] = llvm.load {{%.*}} : !llvm.ptr -> i16
// CHECK:       [[M:%.*]] = llvm.load {{%.*}} : !llvm.ptr -> i16
// CHECK:       llvm.store [[X]], {{%.*}} : f32
// CHECK:       {{%.*}} = accx.element %b[%i, 1, 0] of
// CHECK-NEXT:  llvm.store [[N]], {{%.*}} : i16
// CHECK:       llvm.store [[M]], {{%.*}} : i16
// CHECK-NOT:   llvm.intr.memcpy
// Host code is unchanged.
// CHECK:       llvm.return
// CHECK-LABEL: llvm.func @host
// CHECK:       llvm.intr.memcpy
!s = !llvm.struct<"struct.s", (f32, !llvm.array<2 x i16>)>
llvm.func @copies(%a: !llvm.ptr, %b: !llvm.ptr, %i: i32) {
  %c8 = arith.constant 8 : i64
  acc.parallel {
    %b_i = accx.element %b[%i] of !s : i32
    %a_i = accx.element %a[%i] of !s : i32
    "llvm.intr.memcpy"(%b_i, %a_i, %c8) <{isVolatile = false, arg_attrs = [{llvm.align = 4 : i64}, {llvm.align = 4 : i64}, {}]}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
    acc.yield
  }
  llvm.return
}
llvm.func @host(%a: !llvm.ptr, %b: !llvm.ptr, %i: i32) {
  %c8 = arith.constant 8 : i64
  %b_i = accx.element %b[%i] of !s : i32
  %a_i = accx.element %a[%i] of !s : i32
  "llvm.intr.memcpy"(%b_i, %a_i, %c8) <{isVolatile = false, arg_attrs = [{llvm.align = 4 : i64}, {llvm.align = 4 : i64}, {}]}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  llvm.return
}

// -----

// These copies stay: volatile, of an unknown type, of unknown alignment (a member of a packed structure), of a text.
// CHECK-LABEL: llvm.func @kept
// CHECK-COUNT-4: llvm.intr.memcpy
// CHECK-NOT:   llvm.load
!s = !llvm.struct<"struct.s", (f32, f32)>
!t = !llvm.struct<"struct.t", (f64, !llvm.array<64 x i8>)>
llvm.func @kept(%a: !llvm.ptr, %b: !llvm.ptr, %i: i32) {
  %c8 = arith.constant 8 : i64
  %c72 = arith.constant 72 : i64
  acc.parallel {
    %b_i = accx.element %b[%i] of !s : i32
    %a_i = accx.element %a[%i] of !s : i32
    %b_t = accx.element %b[%i] of !t : i32
    "llvm.intr.memcpy"(%b_i, %a_i, %c8) <{isVolatile = true, arg_attrs = [{llvm.align = 4 : i64}, {llvm.align = 4 : i64}, {}]}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
    "llvm.intr.memcpy"(%b, %a, %c8) <{isVolatile = false, arg_attrs = [{llvm.align = 4 : i64}, {llvm.align = 4 : i64}, {}]}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
    "llvm.intr.memcpy"(%b_i, %a_i, %c8) <{isVolatile = false, arg_attrs = [{llvm.align = 4 : i64}, {}, {}]}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
    "llvm.intr.memcpy"(%b_t, %a, %c72) <{isVolatile = false, arg_attrs = [{llvm.align = 8 : i64}, {llvm.align = 8 : i64}, {}]}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
    acc.yield
  }
  llvm.return
}

// -----

// memcpy is a copy of scalars between objects of one type, however they are divided, not between different ones.
// CHECK-LABEL: llvm.func @library
// CHECK-COUNT-2: llvm.load {{%.*}} : !llvm.ptr -> f32
// CHECK:       llvm.call @memcpy
llvm.func @memcpy(!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr
llvm.func @library(%a: !llvm.ptr, %b: !llvm.ptr, %i: i32) {
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i64
  acc.parallel {
    %row = accx.element %b[%i] of !llvm.array<2 x f32> : i32
    %word = accx.element %b[%i] of i64 : i32
    %a_i = accx.element %a[%i] of f32 : i32
    %0 = llvm.call @memcpy(%row, %a_i, %c8) : (!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr
    %1 = llvm.call @memcpy(%word, %a_i, %c8) : (!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr
    acc.yield
  }
  llvm.return
}

// -----

// A structure that is stored as a value is stored by its scalars; those that were put in are used directly.
// CHECK-LABEL: llvm.func @values
// CHECK:       [[X:%.*]] = llvm.load {{%.*}} : !llvm.ptr -> f32
// CHECK-NEXT:  {{%.*}} = accx.element %a[%i, 1]
// CHECK-NEXT:  [[Y:%.*]] = llvm.load {{%.*}} : !llvm.ptr -> f32
// CHECK-NEXT:  [[SUM:%.*]] = arith.addf [[X]], [[Y]] : f32
// CHECK-NEXT:  {{%.*}} = accx.element %b[%i, 0]
// CHECK-NEXT:  llvm.store [[SUM]], {{%.*}} : f32
// CHECK-NEXT:  {{%.*}} = accx.element %b[%i, 1]
// CHECK-NEXT:  llvm.store [[Y]], {{%.*}} : f32
// What a call returns is taken apart; the argument stays whole.
// CHECK:       [[ARG:%.*]] = llvm.load {{%.*}} : !llvm.ptr -> !llvm.struct
// CHECK-NEXT:  [[GOT:%.*]] = llvm.call @other([[ARG]])
// CHECK-NEXT:  [[GOT_X:%.*]] = llvm.extractvalue [[GOT]][0]
// CHECK:       llvm.store [[GOT_X]], {{%.*}} : f32
// CHECK-NOT:   llvm.insertvalue
!s = !llvm.struct<"struct.s", (f32, f32)>
llvm.func @other(!s) -> !s
llvm.func @values(%a: !llvm.ptr, %b: !llvm.ptr, %i: i32) {
  acc.parallel {
    %a_i = accx.element %a[%i] of !s : i32
    %b_i = accx.element %b[%i] of !s : i32
    %v = llvm.load %a_i : !llvm.ptr -> !s
    %x = llvm.extractvalue %v[0] : !s
    %y = llvm.extractvalue %v[1] : !s
    %sum = arith.addf %x, %y : f32
    %w = llvm.insertvalue %sum, %v[0] : !s
    llvm.store %w, %b_i : !s, !llvm.ptr
    %u = llvm.load %a_i : !llvm.ptr -> !s
    %got = llvm.call @other(%u) : (!s) -> !s
    llvm.store %got, %b_i : !s, !llvm.ptr
    acc.yield
  }
  llvm.return
}

// -----

// The members of a local structure are values; a row with a subscript that varies is a variable of its own.
// CHECK-LABEL: llvm.func @members
// CHECK:       [[ROW:%.*]] = llvm.alloca {{%.*}} x !llvm.array<2 x f32>
// CHECK-NOT:   llvm.alloca
// CHECK:       {{%.*}} = accx.element [[ROW]][0, %i] of !llvm.array<2 x f32>
// CHECK:       {{%.*}} = accx.element [[ROW]][0, 1] of !llvm.array<2 x f32>
// CHECK:       scf.for
// CHECK-NEXT:    arith.sitofp
// CHECK-NEXT:    llvm.store {{%.*}}, %a : f64
!s = !llvm.struct<"struct.s", (!llvm.array<2 x f32>, f64)>
llvm.func @members(%a: !llvm.ptr, %i: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    %s = llvm.alloca %c1 x !s : (i32) -> !llvm.ptr
    %zero = arith.constant 0.0 : f32
    %row = accx.element %s[0, 0, %i] of !s : i32
    llvm.store %zero, %row : f32, !llvm.ptr
    %second = llvm.getelementptr inbounds %s[4] : (!llvm.ptr) -> !llvm.ptr, i8
    llvm.store %zero, %second : f32, !llvm.ptr
    scf.for %k = %c0 to %i step %c1 : i32 {
      %s_d = llvm.getelementptr inbounds %s[0, 1] : (!llvm.ptr) -> !llvm.ptr, !s
      %d = arith.sitofp %k : i32 to f64
      llvm.store %d, %s_d : f64, !llvm.ptr
      %s_e = llvm.getelementptr inbounds %s[0, 1] : (!llvm.ptr) -> !llvm.ptr, !s
      %e = llvm.load %s_e : !llvm.ptr -> f64
      llvm.store %e, %a : f64, !llvm.ptr
    }
    acc.yield
  }
  llvm.return
}

// -----

// A structure that is stored as a whole, in the place of its only member, an array with subscripts that vary: whole.
// CHECK-LABEL: llvm.func @only_member
// CHECK:       [[WHOLE:%.*]] = llvm.alloca {{%.*}} x !llvm.struct
// CHECK-NOT:   llvm.alloca
// CHECK:       llvm.store %whole, [[WHOLE]]
// CHECK:       accx.element [[WHOLE]][0, 0, %i] of !llvm.struct
!s = !llvm.struct<"struct.s", (!llvm.array<300 x i32>)>
llvm.func @only_member(%a: !llvm.ptr, %i: i32, %whole: !s) {
  %c1 = arith.constant 1 : i32
  acc.parallel {
    %s = llvm.alloca %c1 x !s : (i32) -> !llvm.ptr
    llvm.store %whole, %s : !s, !llvm.ptr
    %element = accx.element %s[0, 0, %i] of !s : i32
    %value = llvm.load %element : !llvm.ptr -> i32
    llvm.store %value, %a : i32, !llvm.ptr
    acc.yield
  }
  llvm.return
}

// -----

// A member that keeps its value from iteration to iteration stays a variable outside the loop. A structure whose address is
// passed on, or of which two members are read at once, stays whole.
// CHECK-LABEL: llvm.func @whole
// CHECK-DAG:   %s_x = llvm.alloca {{%.*}} x f32
// CHECK-DAG:   %passed = llvm.alloca {{%.*}} x !llvm.struct
// CHECK-DAG:   %read = llvm.alloca {{%.*}} x !llvm.struct
// CHECK:       scf.for
// CHECK-NEXT:    llvm.load %s_x
!s = !llvm.struct<"struct.s", (f32, f32)>
llvm.func @use(!llvm.ptr)
llvm.func @whole(%a: !llvm.ptr, %i: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    %s = llvm.alloca %c1 x !s : (i32) -> !llvm.ptr
    %passed = llvm.alloca %c1 x !s : (i32) -> !llvm.ptr
    %read = llvm.alloca %c1 x !s : (i32) -> !llvm.ptr
    llvm.call @use(%passed) : (!llvm.ptr) -> ()
    %bits = llvm.load %read : !llvm.ptr -> i64
    llvm.store %bits, %a : i64, !llvm.ptr
    scf.for %k = %c0 to %i step %c1 : i32 {
      %s_x = llvm.getelementptr inbounds %s[0, 0] : (!llvm.ptr) -> !llvm.ptr, !s
      %x = llvm.load %s_x : !llvm.ptr -> f32
      %y = arith.addf %x, %x : f32
      llvm.store %y, %s_x : f32, !llvm.ptr
    }
    acc.yield
  }
  llvm.return
}

// -----

// A part of a union is a number of the union's type, converted where it is used as another one.
// CHECK-LABEL: llvm.func @punned
// CHECK:       [[BITS:%.*]] = arith.bitcast %x : f32 to i32
// CHECK-NEXT:  arith.bitcast [[BITS]] : i32 to f32
// CHECK-NOT:   llvm.alloca
!u = !llvm.struct<"union.u", (!llvm.array<1 x i32>)>
!s = !llvm.struct<"struct.s", (!u, f32)>
llvm.func @punned(%a: !llvm.ptr, %x: f32) {
  %c1 = arith.constant 1 : i32
  acc.parallel {
    %s = llvm.alloca %c1 x !s : (i32) -> !llvm.ptr
    llvm.store %x, %s : f32, !llvm.ptr
    %y = llvm.load %s : !llvm.ptr -> f32
    llvm.store %y, %a : f32, !llvm.ptr
    acc.yield
  }
  llvm.return
}
