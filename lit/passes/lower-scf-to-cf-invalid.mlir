// RUN: not accopt %s -p lower-scf-to-cf 2>&1 | filecheck %s

// scf.parallel has no place in the pipeline: it is refused by name.
llvm.func @f() {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // CHECK: 'scf.parallel' cannot be lowered to branches
  "scf.parallel"(%zero, %one, %one) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    scf.reduce
  }) : (index, index, index) -> ()
  llvm.return
}
