# Fits paths with glmnet on request, timed inside R. One process serves one workload.
# Commands on standard input, one a line:
#   load <folder>                       X as written by peers.py (dense or CSC), y as 0/1
#   path <l1_ratio> <thresh> <intercept> <folder>
#   cv <l1_ratio> <thresh> <cores> <folder>    fold numbers from folds.bin
#   choose <folder>                     cv.glmnet as it comes but for the folds; one solution
#   quit
suppressPackageStartupMessages(library(glmnet))
glmnet.control(fdev = 0, devmax = 1, mnlam = 1000)

numbers <- function(folder, name, what = "double") {
  path <- file.path(folder, name)
  size <- if (what == "double") 8 else 4
  readBin(path, what, n = file.info(path)$size / size, size = size)
}

load_problem <- function(folder) {
  shape <- numbers(folder, "shape.bin", "integer")
  y <<- numbers(folder, "y.bin")
  if (file.exists(file.path(folder, "indptr.bin"))) {
    X <<- new("dgCMatrix", i = numbers(folder, "indices.bin", "integer"),
              p = numbers(folder, "indptr.bin", "integer"),
              x = numbers(folder, "data.bin"), Dim = shape)
  } else {
    X <<- matrix(numbers(folder, "X.bin"), nrow = shape[1], ncol = shape[2])
  }
  cat("ok", "\n")
}

now <- if (Sys.getenv("BENCH_CLOCK") == "cpu") {
  function() sum(proc.time()[c("user.self", "sys.self")])
} else {
  function() as.numeric(Sys.time())
}

seconds_of <- function(expression) {
  start <- now()
  force(expression)
  now() - start
}

fit_path <- function(l1_ratio, thresh, intercept, folder) {
  alphas <- numbers(folder, "alphas.bin")
  seconds <- seconds_of(
    fit <- suppressWarnings(glmnet(X, y, family = "binomial", alpha = l1_ratio, lambda = alphas,
                                   thresh = thresh, standardize = FALSE, intercept = intercept,
                                   maxit = 1e8)))
  write_path(fit$beta, fit$a0, seconds, folder)
}

write_path <- function(beta, intercepts, seconds, folder) {
  beta <- as(beta, "CsparseMatrix")
  writeBin(beta@x, file.path(folder, "coef_data.bin"))
  writeBin(beta@i, file.path(folder, "coef_indices.bin"))
  writeBin(beta@p, file.path(folder, "coef_indptr.bin"))
  writeBin(as.numeric(intercepts), file.path(folder, "intercepts.bin"))
  cat("ok", format(seconds, digits = 15), length(intercepts), "\n")
}

choose <- function(folder) {
  folds <- numbers(folder, "folds.bin", "integer")
  seconds <- seconds_of(
    fit <- suppressWarnings(cv.glmnet(X, y, family = "binomial", foldid = folds)))
  found <- coef(fit, s = "lambda.min")
  write_path(found[-1, , drop = FALSE], found[1, 1], seconds, folder)
}

cross_validate <- function(l1_ratio, thresh, cores, folder) {
  alphas <- numbers(folder, "alphas.bin")
  folds <- numbers(folder, "folds.bin", "integer")
  parallel <- cores > 1
  if (parallel) doParallel::registerDoParallel(cores)
  seconds <- seconds_of(
    fit <- suppressWarnings(cv.glmnet(X, y, family = "binomial", alpha = l1_ratio, lambda = alphas,
                                      thresh = thresh, standardize = FALSE, foldid = folds,
                                      maxit = 1e8, parallel = parallel)))
  writeBin(as.numeric(fit$cvm), file.path(folder, "cv_deviance.bin"))
  cat("ok", format(seconds, digits = 15), length(fit$cvm), "\n")
}

input <- file("stdin", "r")
cat("ready", as.character(packageVersion("glmnet")), "\n")
while (length(line <- readLines(input, n = 1)) > 0) {
  words <- strsplit(line, " ")[[1]]
  outcome <- tryCatch({
    switch(words[1],
      load = load_problem(words[2]),
      path = fit_path(as.numeric(words[2]), as.numeric(words[3]), words[4] == "1", words[5]),
      cv = cross_validate(as.numeric(words[2]), as.numeric(words[3]), as.integer(words[4]),
                          words[5]),
      choose = choose(words[2]),
      quit = break)
  }, error = function(e) cat("error", gsub("\n", " ", conditionMessage(e)), "\n"))
  flush(stdout())
}
