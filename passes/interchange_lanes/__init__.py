"""The pass `interchange-lanes`, which runs iterations of partitioned loops in SIMD lanes."""
