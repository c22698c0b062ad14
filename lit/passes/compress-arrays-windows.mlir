// RUN: accopt %s -p 'compress-arrays{threads=0}' | filecheck %s
// RUN: accopt %s -p 'compress-arrays{rows=1 threads=0}' | filecheck %s --check-prefix=ROW
// RUN: accopt %s -p compress-arrays | filecheck %s --check-prefix=MANY

// A stencil over packed elements: the host tests whether rows begin at aligned addresses (the distance of
// rows is 2n and 2n bytes, a group has 16).
// CHECK-LABEL: llvm.func @stencil
// CHECK:         llvm.ptrtoint %a_dev : !llvm.ptr to i64
// With few results it takes the other version, too.
// MANY-LABEL: llvm.func @stencil
// MANY:         %many = arith.cmpi sge
// MANY:         %large = arith.andi %aligned, %many
// MANY:         %long = arith.cmpi sge
// MANY:         scf.if %large
// CHECK:         %[[REST:.*]] = arith.andi %{{.*}}, %{{.*}} : i64
// CHECK-NEXT:    %{{.*}} = arith.constant 0 : i64
// CHECK-NEXT:    %aligned = arith.cmpi eq, %[[REST]], %{{.*}} : i64
// CHECK:         scf.if %aligned {
// Two rows and eight columns per thread; groups begin before the first column, which is 1.
// CHECK:           acc.loop gang control(%tile : i64) = (%{{.*}} : i64) to (%tiles : i64)
// CHECK:             %ahead{{.*}} = arith.andi
// CHECK:             %begin = arith.subi %{{.*}}, %ahead
// CHECK:             acc.loop gang vector control(%group : i64) = (%{{.*}} : i64) to (%groups : i64)
// CHECK:               %full = arith.cmpi sle
// CHECK:               scf.if %whole
// Row 0 is read from one before the group to one behind it, row 1 too, row 2 (below the last) is not
// read to the sides: 10 + 10 + 8 loads, each element decoded once.
// CHECK:                 %[[FIRST:.*]] = accx.element %a_dev
// CHECK:                 %a_code{{.*}} = llvm.load %[[FIRST]] {alignment = 2 : i64} : !llvm.ptr -> i16
// CHECK-NEXT:            %[[NEXT:.*]] = llvm.getelementptr inbounds %[[FIRST]][2] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK-NEXT:            llvm.load %[[NEXT]] {alignment = 16 : i64} : !llvm.ptr -> i16
// CHECK-COUNT-26:        llvm.load
// CHECK-NOT:             llvm.load
// CHECK:                 math.fma
// CHECK:                 llvm.store %{{.*}} {alignment = 16 : i64} : i16, !llvm.ptr
// CHECK-COUNT-7:         llvm.store
// CHECK:                 llvm.store %{{.*}} {alignment = 16 : i64} : i16, !llvm.ptr
// CHECK-COUNT-7:         llvm.store
// CHECK:               } else {
// CHECK:                 scf.for %i{{.*}} =
// CHECK:                   scf.for %j{{.*}} =
// CHECK:             accx.why = "8 neighbouring results in 2 rows per thread, elements decoded once"
// CHECK:         } else {
// CHECK:           acc.loop gang vector control(%j{{.*}} : i64)
// CHECK:           #accx.schedule<gang_dim = 2, elements = 4>
// ROW-LABEL: llvm.func @stencil
// ROW:           accx.why = "8 neighbouring results per thread, elements decoded once"
llvm.func @stencil(%n: i64, %a: !llvm.ptr, %b: !llvm.ptr) {
  %c1 = arith.constant 1 : i64
  %one = arith.constant 1 : i32
  %lanes = arith.constant 256 : i32
  %a_dev = acc.present varPtr(%a : !llvm.ptr) varType(f32) -> !llvm.ptr {accx.packed = !accx.packed<f32, 16, range>, accx.decodes, name = "a"}
  %b_dev = acc.present varPtr(%b : !llvm.ptr) varType(f32) -> !llvm.ptr {accx.packed = !accx.packed<f32, 16, range>, accx.decodes, name = "b"}
  acc.parallel dataOperands(%a_dev, %b_dev : !llvm.ptr, !llvm.ptr) num_gangs({%one : i32, %one : i32}) num_workers(%one : i32) vector_length(%lanes : i32) {
    acc.loop gang control(%i : i64) = (%c1 : i64) to (%n : i64) step (%c1 : i64) {
      acc.loop gang vector control(%j : i64) = (%c1 : i64) to (%n : i64) step (%c1 : i64) {
        %row = arith.muli %i, %n : i64
        %at = arith.addi %row, %j : i64
        %west = arith.subi %at, %c1 : i64
        %east = arith.addi %at, %c1 : i64
        %south = arith.addi %at, %n : i64
        %pw = accx.element %a_dev[%west] of f32 : i64
        %x = llvm.load %pw : !llvm.ptr -> f32
        %pe = accx.element %a_dev[%east] of f32 : i64
        %y = llvm.load %pe : !llvm.ptr -> f32
        %ps = accx.element %a_dev[%south] of f32 : i64
        %z = llvm.load %ps : !llvm.ptr -> f32
        %s = arith.addf %x, %y : f32
        %t = arith.addf %s, %z : f32
        %q = accx.element %b_dev[%at] of f32 : i64
        llvm.store %t, %q : f32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
      acc.yield
    } attributes {accx.schedule = #accx.schedule<gang_dim = 2, elements = 4>, independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  acc.delete accPtr(%b_dev : !llvm.ptr) {name = "b"}
  acc.delete accPtr(%a_dev : !llvm.ptr) {name = "a"}
  llvm.return
}

// Rows of 1001 elements are never all aligned: no window.
// CHECK-LABEL: llvm.func @odd_rows
// CHECK-NOT:     scf.if
// CHECK-NOT:     neighbouring results
// CHECK:         llvm.return
llvm.func @odd_rows(%n: i64, %a: !llvm.ptr, %b: !llvm.ptr) {
  %c1 = arith.constant 1 : i64
  %pitch = arith.constant 1001 : i64
  %one = arith.constant 1 : i32
  %lanes = arith.constant 256 : i32
  %a_dev = acc.present varPtr(%a : !llvm.ptr) varType(f32) -> !llvm.ptr {accx.packed = !accx.packed<f32, 16, range>, accx.decodes, name = "a"}
  %b_dev = acc.present varPtr(%b : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "b"}
  acc.parallel dataOperands(%a_dev, %b_dev : !llvm.ptr, !llvm.ptr) num_gangs({%one : i32, %one : i32}) num_workers(%one : i32) vector_length(%lanes : i32) {
    acc.loop gang control(%i : i64) = (%c1 : i64) to (%n : i64) step (%c1 : i64) {
      acc.loop gang vector control(%j : i64) = (%c1 : i64) to (%n : i64) step (%c1 : i64) {
        %row = arith.muli %i, %pitch : i64
        %at = arith.addi %row, %j : i64
        %west = arith.subi %at, %c1 : i64
        %pw = accx.element %a_dev[%west] of f32 : i64
        %x = llvm.load %pw : !llvm.ptr -> f32
        %pc = accx.element %a_dev[%at] of f32 : i64
        %y = llvm.load %pc : !llvm.ptr -> f32
        %s = arith.addf %x, %y : f32
        %q = accx.element %b_dev[%at] of f32 : i64
        llvm.store %s, %q : f32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
      acc.yield
    } attributes {accx.schedule = #accx.schedule<gang_dim = 2, elements = 4>, independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  acc.delete accPtr(%b_dev : !llvm.ptr) {name = "b"}
  acc.delete accPtr(%a_dev : !llvm.ptr) {name = "a"}
  llvm.return
}

// A stream that begins at 1 takes groups that begin at 0: their first one runs element by element.
// CHECK-LABEL: llvm.func @stream_from_one
// CHECK:         scf.if %aligned
// CHECK:             %ahead{{.*}} = arith.andi
// CHECK:             scf.if %whole
// CHECK:               llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr -> i16
// CHECK:               llvm.store %{{.*}} {alignment = 16 : i64} : i16, !llvm.ptr
// CHECK:         accx.why = "8 neighbouring results per thread, elements decoded once"
llvm.func @stream_from_one(%n: i64, %a: !llvm.ptr) {
  %c1 = arith.constant 1 : i64
  %one = arith.constant 1 : i32
  %lanes = arith.constant 256 : i32
  %a_dev = acc.present varPtr(%a : !llvm.ptr) varType(f32) -> !llvm.ptr {accx.packed = !accx.packed<f32, 16, range>, accx.decodes, name = "a"}
  acc.parallel dataOperands(%a_dev : !llvm.ptr) num_gangs({%one : i32}) num_workers(%one : i32) vector_length(%lanes : i32) {
    acc.loop gang vector control(%j : i64) = (%c1 : i64) to (%n : i64) step (%c1 : i64) {
      %p = accx.element %a_dev[%j] of f32 : i64
      %x = llvm.load %p : !llvm.ptr -> f32
      %y = arith.addf %x, %x : f32
      llvm.store %y, %p : f32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  acc.delete accPtr(%a_dev : !llvm.ptr) {name = "a"}
  llvm.return
}
