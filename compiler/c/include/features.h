/* What these headers declare (GNU): everything. */
#pragma once
