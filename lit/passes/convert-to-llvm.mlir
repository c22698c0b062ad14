// RUN: accopt %s -p convert-to-llvm | filecheck %s

// The example of the pass: flags are kept, index is i64.
llvm.func @example(%a: i32, %b: i32) -> i64 {
  %s = arith.addi %a, %b overflow<nsw> : i32
  %i = arith.index_cast %s : i32 to index
  cf.br ^next(%i : index)
^next(%j: index):
  %r = arith.index_cast %j : index to i64
  llvm.return %r : i64
}
// CHECK-LABEL: llvm.func @example
// CHECK-NEXT:    %s = llvm.add %a, %b overflow<nsw> : i32
// CHECK-NEXT:    %i = llvm.sext %s : i32 to i64
// CHECK-NEXT:    llvm.br ^[[NEXT:.*]](%i : i64)
// CHECK-NEXT:  ^[[NEXT]](%j: i64):
// CHECK-NEXT:    llvm.return %j : i64

// Predicates keep their numbers, fast-math flags their names.
llvm.func @predicates(%ac: f64, %bc: f64, %xc: i64) -> i1 {
  %sc = arith.addf %ac, %bc fastmath<nnan,contract> : f64
  %cc = arith.cmpf ult, %sc, %bc : f64
  %dc = arith.cmpi uge, %xc, %xc : i64
  %rc = arith.select %cc, %dc, %cc : i1
  llvm.return %rc : i1
}
// CHECK-LABEL: llvm.func @predicates
// CHECK-NEXT:    %sc = llvm.fadd %ac, %bc {fastmathFlags = #llvm.fastmath<{{nnan,contract|contract,nnan}}>} : f64
// CHECK-NEXT:    %cc = llvm.fcmp "ult" %sc, %bc : f64
// CHECK-NEXT:    %dc = llvm.icmp "uge" %xc, %xc : i64
// CHECK-NEXT:    %rc = llvm.select %cc, %dc, %cc : i1, i1

// Attributes of branches stay; switches keep cases and arguments.
llvm.func @branches(%fd: i32, %vd: i64) -> i64 {
  cf.switch %fd : i32, [
    default: ^a(%vd : i64),
    5: ^b
  ]
^b:
  cf.br ^a(%vd : i64) {accx.unroll = 2 : i32}
^a(%rd: i64):
  llvm.return %rd : i64
}
// CHECK-LABEL: llvm.func @branches
// CHECK-NEXT:    llvm.switch %fd : i32, ^[[A:.*]](%vd : i64) [
// CHECK-NEXT:      5: ^[[B:.*]]
// CHECK-NEXT:    ]
// CHECK:         llvm.br ^[[A]](%vd : i64) {accx.unroll = 2 : i32}

// Mathematics is intrinsics where LLVM has them, else C's library, declared once.
llvm.func @mathematics(%ae: f32, %be: f64) -> f64 {
  %se = math.sin %ae : f32
  %ce = math.cbrt %se : f32
  %de = arith.extf %ce : f32 to f64
  %ee = math.erf %de : f64
  %fe = math.erf %ee : f64
  llvm.return %fe : f64
}
// CHECK-LABEL: llvm.func @mathematics
// CHECK-NEXT:    %se = llvm.intr.sin(%ae) : (f32) -> f32
// CHECK-NEXT:    %ce = llvm.call @cbrtf(%se) : (f32) -> f32
// CHECK-NEXT:    %de = llvm.fpext %ce : f32 to f64
// CHECK-NEXT:    %ee = llvm.call @erf(%de) : (f64) -> f64

// Rounded divisions are spelled out: ceil(a / b) is a quotient and a correction.
llvm.func @ceildiv(%af: i64, %bf: i64) -> i64 {
  %rf = arith.ceildivui %af, %bf : i64
  llvm.return %rf : i64
}
// CHECK-LABEL: llvm.func @ceildiv
// CHECK:         %[[Q:.*]] = llvm.udiv %af, %bf : i64
// CHECK-NEXT:    %[[R:.*]] = llvm.urem %af, %bf : i64
// CHECK-NEXT:    %[[C:.*]] = llvm.icmp "ne" %[[R]], %{{.*}} : i64
// CHECK-NEXT:    %[[S:.*]] = llvm.add %[[Q]], %{{.*}} : i64
// CHECK-NEXT:    %rf = llvm.select %[[C]], %[[S]], %[[Q]] : i1, i64

// f64 to f16 in host code: by the f32 next to the value of which the last digit is odd.
llvm.func @rounded(%xh: f64) -> f16 {
  %h = arith.truncf %xh : f64 to f16
  llvm.return %h : f16
}
// CHECK-LABEL: llvm.func @rounded
// CHECK-NEXT:    %[[NEAR:.*]] = llvm.fptrunc %xh : f64 to f32
// CHECK-NEXT:    %[[BACK:.*]] = llvm.fpext %[[NEAR]] : f32 to f64
// CHECK-NEXT:    %[[BITS:.*]] = llvm.bitcast %[[NEAR]] : f32 to i32
// CHECK-NEXT:    %[[ZERO:.*]] = llvm.mlir.constant(0 : i32) : i32
// CHECK-NEXT:    %[[NEGATIVE:.*]] = llvm.icmp "slt" %[[BITS]], %[[ZERO]] : i32
// CHECK-NEXT:    %[[ABOVE:.*]] = llvm.fcmp "ogt" %[[BACK]], %xh : f64
// CHECK-NEXT:    %[[XOR:.*]] = llvm.xor %[[ABOVE]], %[[NEGATIVE]] : i1
// CHECK-NEXT:    %[[BEYOND:.*]] = llvm.zext %[[XOR]] : i1 to i32
// CHECK-NEXT:    %[[INNER:.*]] = llvm.sub %[[BITS]], %[[BEYOND]]
// CHECK-NEXT:    %[[ONE:.*]] = llvm.mlir.constant(1 : i32) : i32
// CHECK-NEXT:    %[[ODD:.*]] = llvm.or %[[INNER]], %[[ONE]] : i32
// CHECK-NEXT:    %[[EXACT:.*]] = llvm.fcmp "ueq" %[[BACK]], %xh : f64
// CHECK-NEXT:    %[[CHOSEN:.*]] = llvm.select %[[EXACT]], %[[BITS]], %[[ODD]]
// CHECK-NEXT:    %[[SINGLE:.*]] = llvm.bitcast %[[CHOSEN]] : i32 to f32
// CHECK-NEXT:    %{{.*}} = llvm.fptrunc %[[SINGLE]] : f32 to f16

// f16 to f80 by f32.
llvm.func @widened(%yh: f16) -> f80 {
  %l = arith.extf %yh : f16 to f80
  llvm.return %l : f80
}
// CHECK-LABEL: llvm.func @widened
// CHECK-NEXT:    %[[WIDE:.*]] = llvm.fpext %yh : f16 to f32
// CHECK-NEXT:    %{{.*}} = llvm.fpext %[[WIDE]] : f32 to f80

// CHECK:       llvm.func @cbrtf(f32) -> f32
// CHECK-NEXT:  llvm.func @erf(f64) -> f64
// CHECK-NOT:   llvm.func @erf
