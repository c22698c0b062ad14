"""The pass `stage-transposed-accesses`, and which nests read across memory."""
