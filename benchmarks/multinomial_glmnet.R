# One multinomial path of glmnet, timed inside R: Rscript multinomial_glmnet.R <folder> <ungrouped|grouped> <thresh> <seconds>
# Reads the problem as multinomial.py writes it; prints the seconds (the fewest of several, while these are short) and
# writes, for each class and penalty, the intercept and the coefficients.
suppressPackageStartupMessages(library(glmnet))
glmnet.control(fdev = 0, devmax = 1, mnlam = 1000)
arguments <- commandArgs(TRUE)
folder <- arguments[1]

numbers <- function(name, what = "double") {
  path <- file.path(folder, name)
  size <- if (what == "double") 8 else 4
  readBin(path, what, n = file.info(path)$size / size, size = size)
}

shape <- numbers("shape.bin", "integer")
y <- factor(numbers("y.bin"))
X <- if (file.exists(file.path(folder, "indptr.bin"))) {
  new("dgCMatrix", i = numbers("indices.bin", "integer"), p = numbers("indptr.bin", "integer"),
      x = numbers("data.bin"), Dim = shape)
} else {
  matrix(numbers("X.bin"), nrow = shape[1], ncol = shape[2])
}
alphas <- numbers("alphas.bin")
taken <- numeric(0)
while (length(taken) == 0 || (sum(taken) < as.numeric(arguments[4]) && length(taken) < 20)) {
  clock <- system.time(
    fit <- suppressWarnings(glmnet(X, y, family = "multinomial", type.multinomial = arguments[2], lambda = alphas,
                                   standardize = FALSE, thresh = as.numeric(arguments[3]), maxit = 1e8)))
  taken <- c(taken, sum(clock[1:2]))
}
out <- file(file.path(folder, "out.bin"), "wb")
for (k in seq_along(fit$beta)) writeBin(as.vector(rbind(fit$a0[k, ], as.matrix(fit$beta[[k]]))), out)
close(out)
cat(min(taken), "\n")
