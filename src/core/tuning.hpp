// Every constant of the core: what it means, why it is what it is, and the workload that shows it when it is changed.
// Workloads are those of `make bench` (samples x features) and of `make guard` (wide, tall, kernel).
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace clearning::tuning {

// --- Rounding -------------------------------------------------------------------------------------------------------
// Of one operation.
inline constexpr double unit_rounding = 2.3e-16;
// A fit that reaches this share of the gap asked for has proved it, rounding included.
inline constexpr double share_of_claim = 0.95;
// Where that share leaves no room for rounding, so many times it is left.
inline constexpr double room_for_rounding = 1.5;
// Scores that were updated step by step are computed anew once what rounding has made of them may exceed this share of
// the goal.
inline constexpr double drift_share = 0.02;
// Scores that have gathered so many times the rounding of a fresh sum have come from far, as from coefficients that
// were given.
inline constexpr double drift_from_afar = 30.0;
// The same before solutions are continued, which multiplies it: beside this share a proof is as tight as its dual
// point.
inline constexpr double drift_of_start = 1e-5;
// Below the error of a double's sum of a few terms.
inline constexpr double rounding = 1e-14;
// The same for sums over the samples; radii of the screening are widened by it.
inline constexpr double rounding_of_sums = 1e-13;
// A centred norm is a difference of sums; so much of the plain length is added to it (columns of mean 1e4).
inline constexpr double rounding_of_norms = 1e-7;
// Stands for zero where something is divided by.
inline constexpr double tiny = 1e-300;
// What rounding leaves of a constant column's square about its mean: dense columns are centred before they are squared,
// sparse ones after.
inline constexpr double constant_share_dense = 1e-24;
inline constexpr double constant_share_sparse = 1e-12;
// Full sparse columns whose squared mean exceeds so many variances are centred first all the same (fuzzed problems of
// 23 x 46 with means of 1e6: 22 steps instead of 10,000).
inline constexpr double far_mean = 1e4;
// A centred sum of squares below this share of the plain one has lost its digits and is computed anew.
inline constexpr double cancelled = 1e-6;
// A dual point that was scaled to a constraint meets it up to this.
inline constexpr double scaling_rounding = 1e-15;
// A share of the gap below this part of the goal is bounded, not computed (100,000 x 100).
inline constexpr double negligible_share = 1e-3;

// --- Costs, in ordinary multiply-adds -------------------------------------------------------------------------------
// Multiply-adds of a BLAS product in the time of one (5000 x 500, 100,000 x 100).
inline constexpr double blas_gain = 30.0;
// One entry in a pass that streams a dense column, and in a sweep of descent over it.
inline constexpr double dense_pass = 0.6;
inline constexpr double dense_sweep = 0.5;
// One entry of a sparse column, with the row that it points to (20,000 x 50,000).
inline constexpr double sparse_pass = 2.0;
// The loss and its derivatives at one sample.
inline constexpr double sample_cost = 20.0;
// What a Gram matrix costs beside its product, per pair of columns: mirror, descent, factor.
inline constexpr double gram_upkeep = 3.0;
// Sweeps of residual descent that a step would take instead of a Gram matrix (200 x 20,000).
inline constexpr double expected_sweeps = 20.0;
// A matrix serves several steps: the share of its cost that one step bears.
inline constexpr double fresh_gram_share = 0.25;
// A matrix that costs less than this is made anew after a step that left more than the share below (72 x 7129,
// basehock: 159 steps instead of 175).
inline constexpr double free_gram = 2e5;
inline constexpr double good_contraction = 0.1;
// The last steps of a penalty that a fresh matrix needs anyway.
inline constexpr double steps_with_fresh_gram = 1.5;

// New columns of a Gram matrix that are multiplied without a panel of the old ones (5000 x 500, 100,000 x 100).
inline constexpr int few_columns = 32;
// The old ones are not centred for that: the squares of their means are no more than so many variances.
inline constexpr double far_from_zero = 1e3;

// --- Blocks of memory -----------------------------------------------------------------------------------------------
// Rows of a panel of `count` columns: it stays in the second-level cache, with runs long enough to stream.
inline std::int64_t panel_rows(int count) { return std::clamp<std::int64_t>(131072 / count, 192, 2048); }
// Columns of a packed factor's panel: wide enough for BLAS's third level (kernels of 2000 samples).
inline constexpr int panel_width = 256;
// Sparse columns that joined after the others were turned into rows, and are taken as they are (a9a).
inline constexpr std::size_t unturned_columns = 12;
// Room for columns to come, so that a matrix is not copied at each arrival.
constexpr int with_room(int k) { return k + k / 4 + 16; }

// --- Choosing columns -----------------------------------------------------------------------------------------------
// That a cold start takes (single fits of `make bench`).
inline constexpr int first_columns = 100;
// On sparse designs as many as hold so many entries a sample (20,000 x 50,000, single fit).
inline constexpr double first_entries_per_sample = 2.0;
// The strong rule is trusted down to this share of the threshold; beyond it a start is cold.
inline constexpr double strong_rule_reach = 0.3;
// Reference vectors of the screening: more predict no better along a path (dorothea).
inline constexpr int references = 4;
// A reference that the others explain but for this share adds nothing.
inline constexpr double reference_rest = 1e-10;
// Where more columns than this share are in doubt, all are computed and become a reference (dorothea).
inline constexpr double doubtful_share = 0.25;
// Columns kept in a matrix beyond twice those wanted (a9a).
inline constexpr std::size_t spare_columns = 50;

// --- Gram matrix or not ---------------------------------------------------------------------------------------------
// No matrix of more columns: its memory and its square sweeps outgrow the design's.
inline constexpr int largest_gram = 6000;
// Where residual descent crawls, a matrix of at most so many columns is the lesser evil (rt_polarity), unless it costs
// more than so many sweeps (1412 x 13,251 with 18,710 entries: 0.47 s instead of 1.69).
inline constexpr int gram_where_descent_crawls = 2000;
inline constexpr double sweeps_of_crawling = 400.0;
// Descent crawls if a step leaves more than is allowed, and more than this share of its violations.
inline constexpr double crawling = 0.7;
// A step is hoped to leave this share, is never believed to leave less than the next, and an old matrix has served its
// time when it leaves more than the third (100,000 x 100).
inline constexpr double hoped_contraction = 0.05;
inline constexpr double best_contraction = 1e-3;
inline constexpr double poor_contraction = 0.7;
inline constexpr double contraction_after_entry = 0.3;

// --- Curvature ------------------------------------------------------------------------------------------------------
// Samples with less than this share of the largest curvature are left out of the model (cold losses).
inline constexpr double negligible_curvature = 1e-12;
// The same for rows of a kernel ridge system.
inline constexpr double uncurved_row = 1e-10;
// Shares of the majoriser that the curvature is lifted by after a step was cut off, or led nowhere (rho = 0.01).
inline constexpr double smallest_lift = 1e-4;
inline constexpr double smallest_raise = 1e-3;
// Of all samples and classes together, where none is between two.
inline constexpr double flat_bend = 1e-12;

// A step that promises no more than so many goals is near: its dual point is worth looking at.
inline constexpr double near_promise = 10.0;

// --- Inner problem --------------------------------------------------------------------------------------------------
// A step may leave this share of the violation that the certificate forgives.
inline constexpr double share_of_allowed = 0.3;
// What is forgiven where neither penalty says, as a share of tol * sqrt(goal).
inline constexpr double least_allowed = 1e-3;
// Violations that add up are counted by this share of their mean square's root, before a sweep's moves (sparse 20,000 x
// 50,000: 422 sweeps; with half of it 338, but dorothea takes a quarter longer, because looser steps prove less).
inline constexpr double unit_of_squares = 0.5;
// A model is solved to half of what is allowed, or to this share of the worst violation: it describes the loss no
// better.
inline constexpr double solved_model = 0.5;
inline constexpr double gram_accuracy = 0.1;
inline constexpr double fine_accuracy = 1e-3;
inline constexpr double finest_model = 1e-3;
inline constexpr double descent_accuracy = 0.03;
// Sweeps of residual descent: more would solve a model more exactly than it describes the loss (wide). Where its dual
// point is to be the proof they are worth it (sparse 15,000 x 30,000: 163 steps instead of 299).
inline constexpr int most_sweeps = 12;
inline constexpr int most_sweeps_of_proof = 40;
// Columns with a coefficient are swept alone down to this share of the violation that all had.
inline constexpr double sweeps_of_active = 0.03;
// Steps of sweeps that one extrapolation takes (sparse 15,000 x 30,000: 3,002 sweeps instead of 5,396), and what is
// added to their products, as a share of the trace, so that they have a factor.
inline constexpr std::size_t extrapolated_sweeps = 5;
inline constexpr double extrapolation_jitter = 1e-12;
// Rounds of Gram descent: every fourth sweep visits all columns; descent that leaves more than the share gives way to
// second-order steps (kernel).
inline constexpr int most_rounds = 300;
// Rounds of second-order steps in a row that neither lower the worst violation nor move more coefficients: on kernels
// and many classes what is left is the matrix's rounding (fuzzed: a linear kernel near 1e10, all 300 rounds in each of
// 3,000 steps). Beside a ridge so many of them go one way before it is followed further, up to the other times as far
// (fuzzed: 12 samples, entries to 6e13, 2,600 steps and 11 s without).
inline constexpr int idle_rounds = 50;
inline constexpr int rounds_of_a_way = 10;
inline constexpr double farthest_way = 100.0;
inline constexpr int sweeps_per_full_sweep = 4;
inline constexpr double slow_descent = 0.3;
// Second-order steps on a model: so many for each coefficient, and so many more (fuzzed: a lasso on 10 samples whose
// unpenalised columns separate them, 31 s without a limit and 1.9 with this one; a tenth of it leaves cold hinges
// unproved, the benchmarks' designs take less than a hundredth). Coefficients that enter in between beside a third of
// those active (kernel).
inline constexpr int steps_of_a_coefficient = 20;
inline constexpr int block_steps = 200;
inline constexpr std::size_t entering = 8;
// Columns that a matrix takes in at a time, beside one for so many that it holds: more would have to leave again, one
// by one (kernel path of 1600 samples, 50 penalties: up to 400 steps a penalty, by 25).
inline constexpr std::size_t held_per_entering = 30;
// Solves of what the coefficients' own digits leave of a model (columns of 1e6 without an intercept: gaps of 1e-5 that
// no step takes, because each moves a coefficient by less than its last digit).
inline constexpr int solves_of_rest = 3;
// A step cut off coefficient by coefficient is taken if it keeps this share of the full one's decrease.
inline constexpr double projected_gain = 0.3;
// Conjugate gradients: most steps, when a system counts as solved, and how many steps may pass without halving the
// rest.
inline constexpr int most_gradients = 500;
inline constexpr double solved_system = 1e-13;
inline constexpr int idle_gradients = 5;

// --- Factors --------------------------------------------------------------------------------------------------------
// Relative jitter on a diagonal, raised a hundredfold until the factor exists; below the model's own error.
inline constexpr double first_jitter = 1e-13;
inline constexpr double first_projection_jitter = 1e-14;
inline constexpr double last_jitter = 1e-6;
// The same for a preconditioner in single precision.
inline constexpr double first_single_jitter = 1e-6;
inline constexpr double last_single_jitter = 1e-2;
// A factor of k columns is updated while fewer than k over this number come or go (kernel).
inline constexpr std::size_t exchanges_per_factor = 12;
// And while no ridge has changed by more than this share (306 x 4262, l1_ratio 0.5: a third of the path was factors).
inline constexpr double ridge_of_factor = 0.1;

// --- Line search and progress ---------------------------------------------------------------------------------------
inline constexpr double armijo = 1e-4;
// A step may raise the objective by its rounding.
inline constexpr double armijo_slack = 1e-15;
inline constexpr int halvings = 40;
// A step that promises less than this share of the goal is idle; after so many idle ones in a row the solver gives up.
inline constexpr double worthwhile = 1e-4;
inline constexpr int patience = 12;
// Steps in a row that may promise more and gain nothing: scores of 1e6 and more, whose slopes are rounding (fuzzed wide
// ridge and polynomial kernels: 10,000 steps before).
inline constexpr int patience_with_promises = 40;
inline constexpr double better_violation = 0.9;

// --- Certificate ----------------------------------------------------------------------------------------------------
// A penalty that so many steps have not proved is solved by its violations.
inline constexpr int foreseen_steps = 25;
// So many steps that take less than this share of the gap, in scores computed anew, will not close it (fuzzed: a
// huberized hinge of delta .001 on a kernel near 1e8, whose steps gain what rounding makes of the scores; a hinge on
// 38x67 columns near 1e6, 10,000 steps and 8 s for a tenth of the gap).
inline constexpr int steps_of_a_crawl = 100;
inline constexpr double share_of_a_crawl = 0.05;
// The longer the way so far, the more is asked of the next: that share as many times as it has so many steps, up to the
// other.
inline constexpr double steps_of_a_long_way = 200.0;
inline constexpr double largest_share_of_a_crawl = 0.1;
// A long fit's dual points are kept that leave no more than this share of the gap known.
inline constexpr double better_gap = 0.5;
// A dual value above the objective by so much more than rounding is no proof.
inline constexpr double contradiction = 1e-9;
// A proof is looked into again that is more than so many times what its step is likely to have left.
inline constexpr double tight_proof = 10.0;
// A step of many classes that gains less than this share of the goal, on a model that was not solved, counts as many
// (fuzzed: groups of seven classes, one entry of 1e6, 200 steps and 8 s for 1e-8 of the gap).
inline constexpr double gain_of_a_crawl = 1e-3;
// And so many where rounding alone is more than may be claimed (fuzzed: a kernel of 38 samples in five classes, 700
// steps and 39 s in which the objective went up and down by its rounding).
inline constexpr int steps_beyond_rounding = 20;
// Violations are looked at again once a step has taken nine tenths of those of the columns that entered.
inline constexpr double check_again = 0.1;
// Violations are allowed a tenth less as long as the gap asks for it, down to this.
inline constexpr double tightest = 1e-9;
// What an entry of the model's matrix may be off, as a share of the columns' lengths: rounding, and the curvature of
// sparse columns that are taken for constant.
inline constexpr double rounding_of_matrix = constant_share_sparse;
// Passes of the projection onto columns without a penalty, and when they count as orthogonal to a dual point.
inline constexpr int projections = 20;
inline constexpr double orthogonal = 1e-11;
// A column that differs from a combination of others by more than this share of its length is told apart by the others'
// products with it; one that differs by less than the second is the same, for what double precision can say (two
// columns 1e-9 apart: a false proof by 1e-4 where their difference is not looked at). Rounds in which such a difference
// is made orthogonal to the others, and steps in which the least of all their combinations is looked for (a triangle of
// ones, 40 columns: no pivot is small).
inline constexpr double clearly_apart = 1e-4;
inline constexpr double same_column = 5e-15;
// What rounding may leave of a column for each of those that were taken off it, in units of what was added up in that.
inline constexpr double rounding_of_pivots = 8.0 * unit_rounding;
inline constexpr int rounds_of_rest = 3;
inline constexpr int inverse_iterations = 10;
// The smallest value of a matrix in units of its diagonal that tells how weights can be moved until no pull is left,
// and how much smaller than found it may be.
inline constexpr double least_repair = 1e-11;
// How far off the basis may be, squared, as a share of that.
inline constexpr double blur_of_repair = 0.05;
// Samples whose entries are multiplied at a time for it.
inline constexpr std::size_t rows_of_repair = 1024;
inline constexpr double caution_of_repair = 2.0;
// What may be left of a pull once weights have moved to where there is none.
inline constexpr double left_of_pull = 1e-6;
// The share of the goal that samples may cost which are left out of a dual point.
inline constexpr double left_out_share = 0.1;
// How far a weight is moved, as a share of its domain, to see what that costs it.
inline constexpr double eased_step = 1e-2;
// By how much weights are made smaller, step by step, where those that could move are at the ends of their domain.
inline constexpr double made_smaller[] = {1e-11, 1e-9, 1e-7};
// Where columns tell no more than that share of the room, an elimination is asked: of so many columns at most.
inline constexpr double little_room = 1e-9;
inline constexpr std::size_t most_eliminated = 100;
// Equations for the weights of many classes are solved together up to so many.
inline constexpr std::size_t most_repaired = 1000;
// A row so many times farther out than others, by their room, stays where it is.
inline constexpr double far_out = 100.0;
// Brings columns whose squares are beyond all doubles back into their range.
inline constexpr double into_range = 1e-200;
// What may be left of a dual point of many classes along such differences, as a share of its length: samples that are
// put back into their domain pull again.
inline constexpr double most_pull_apart = 1e-6;

// --- Intercept ------------------------------------------------------------------------------------------------------
inline constexpr int intercept_steps = 200;
// How far the classes' weights may differ before they are evened out, as a share of their sum.
inline constexpr double even_enough = 1e-10;
inline constexpr double even_enough_for_many = 1e-8;
inline constexpr std::int64_t many_samples = 10000;
// A hinge's, as a share of tol: its gap sees the difference itself.
inline constexpr double even_for_hinge = 0.03;

// --- Many classes ---------------------------------------------------------------------------------------------------
// Entries of a single-precision design that are converted at a time: they stay in the second-level cache.
inline constexpr std::int64_t converted_entries = 65536;
// BLAS multiplies by a matrix of at least so many columns faster than loops over them do.
inline constexpr int classes_for_blas = 9;
// Curvature of a model that takes the classes one by one: twice their own majorises what they share.
inline constexpr double class_coupling = 2.0;
// A class with more columns has no Gram matrix of its own, but descends on residuals.
inline constexpr int largest_class_gram = 1500;
// Nor has one whose matrix has more entries than this share of its columns': its factor then costs more than the steps
// of conjugate gradients that it saves (seconds grouped, with a matrix whatever it costs, at this share, with none:
// sparse 5000 x 20,000 in 20 classes 107, 54, -; dense 200 x 20,000 in 5 1.7, 1.0, 1.1; 5000 x 400 in 10 25, 24, 47).
inline constexpr double class_gram_per_entry = 0.1;
// A small one costs little, and without it groups that nearly depend on each other take steps that are none.
inline constexpr int small_class_gram = 50;
// Rounds of descent and conjugate gradients on one model.
inline constexpr int class_rounds = 10;
// A model is solved to a share of the violation it begins with, between these: this share of what the last one left.
inline constexpr double class_accuracy = 0.1;
inline constexpr double finest_class_model = 1e-3;
inline constexpr double coarsest_class_model = 0.05;
// Below this temperature the null model of many classes is reached from warmer ones (fuzzed: four classes, rho 0.018,
// offsets: .95 instead of .10).
inline constexpr double cold_classes = 0.1;
// So is one whose intercepts still pull by this, the samples' weights being one together (fuzzed: six classes, rho .14,
// weights from .03 to 14: .70 instead of .18).
inline constexpr double uneven_null = 1e-7;
inline constexpr double warm_classes = 1.0;
inline constexpr double cooling_of_classes = 0.3;
// How well warmer problems are solved on the way to one whose steps have come to nothing (178x145 in five classes, rho
// .05 and u 3.6: 220 steps that ended far from the optimum without).
inline constexpr double tolerance_of_cooling = 1e-3;
// And to one whose penalty is so many times smaller than the last (600 digits, rho .01, alpha .001: 47 steps and .7 s
// instead of 208 and 4; nearer ones are easier to reach from the last).
inline constexpr double far_from_cold = 8.0;
// The share of the goal that violations left by conjugate gradients may cost.
inline constexpr double class_violation_share = 0.1;
// Conjugate gradients on a model.
inline constexpr int most_class_gradients = 300;
// Those in which the largest rest must fall by half (fuzzed: six classes, 122 columns of rank 72).
inline constexpr int class_gradients_patience = 60;
// A step that is put back is halved down to this share; what falls on the straight way is then found by so many cuts to
// two thirds (fuzzed: groups of five classes, 10 x 10, entries to 1e4: 10 steps, 10,000 without).
inline constexpr double shortest_put_back = 1e-3;
inline constexpr int cuts_of_put_back = 40;
// What rounding leaves of a coefficient that was to come to zero, as a share of what it was.
inline constexpr double arrived = 1e-9;
// Descent has to find which coefficients are zero, not what the others are: most sweeps, and the share of the worst
// violation at which it ends.
inline constexpr int class_sweeps = 8;
inline constexpr double class_descent = 0.02;
// A Gram matrix of all classes together has at most so many coefficients.
inline constexpr int largest_joint_gram = 3000;
// Fewer multiplications of it are done in double precision; single precision needs squares well within its range.
inline constexpr double products_in_double = 1e7;
inline constexpr double least_single = 1e-25;
inline constexpr double largest_single = 1e25;
// Its factor must not cost more than so many steps of conjugate gradients, in multiply-adds of each.
inline constexpr double steps_for_joint_factor = 1000.0;
// A matrix is made anew once the steps of conjugate gradients that a fresh one would have saved cost as much as it:
// this many steps, times its size squared over the entries of a step's matrix of coefficients; at least the second.
inline constexpr double worth_of_matrix = 0.06;
inline constexpr double least_worth = 6.0;
// The same of a matrix for each class, a column.
inline constexpr double worth_of_class_gram = 0.04;
// A factor of so few coefficients costs nothing.
inline constexpr double free_joint_factor = 300.0;
// A factor serves on while no more than so many coefficients have come or gone, and one in so many.
inline constexpr std::size_t least_changes = 3;
inline constexpr std::size_t changes_per_factor = 50;
// Steps of conjugate gradients beyond those of a fresh matrix, after which the factor is made anew.
inline constexpr int steps_for_factor = 4;
// Pulls are computed anew only where they may have come to this share of their threshold.
inline constexpr double near_threshold = 0.85;
// Relative jitter on the diagonal of a class's factor: coefficients that all classes share have no curvature.
inline constexpr double class_jitter = 1e-10;
// Of a coefficient's curvature, what rounding leaves when the intercepts and other coefficients take all of it.
inline constexpr double taken_by_others = 1e-11;
// The same of the square of a column's mean that was taken off before.
inline constexpr double taken_by_centres = 1e-28;
// Scalings of the flow between the classes that make a dual point's columns sum to zero.
inline constexpr int class_scalings = 2000;
// What rounding may leave of a column's sum, as a share of the column's size; and what is left as it is.
inline constexpr double class_evenness = 1e-13;
inline constexpr double best_evenness = 1e-15;
// Blocks come in that are foreseen to pull with this share of their threshold.
inline constexpr double foreseen_share = 0.99;
// Violators that come in at a time, if more than the set has already.
inline constexpr int first_class_pairs = 100;

// --- Path -----------------------------------------------------------------------------------------------------------
// Ridge problems have no largest useful penalty; their grid begins where this l1_ratio's does.
inline constexpr double least_l1_ratio = 1e-3;
inline constexpr double above_the_top = 1e-12;
// Solutions are continued at most so many steps of the path ahead.
inline constexpr double farthest_ahead = 3.0;
// A penalty far from the last one has so many steps before those between are solved first (squared hinge, 196x159, one
// small penalty: 1200 steps without them, 170 with).
inline constexpr int steps_from_afar = 60;
// If one of those between is left so many times above its goal, the others would not lead further (fuzzed: a polynomial
// kernel near 1e20, 40 s and more).
inline constexpr double far_from_proved = 1e3;
// Unpenalised columns may separate the classes: then the null model's objective is this share of the constant's.
inline constexpr double separable_null = 1e-10;
// Below the hinge's first temperature unpenalised columns are fitted at higher ones before, each this share of the
// last.
inline constexpr double cooling_of_free = 0.1;
// The null model of many classes is held to what it proves at a penalty above all pulls.
inline constexpr double above_all_pulls = 1e150;
// The null model is the scale of every tolerance, so it is solved to its own, in so many steps where a fit may take
// fewer.
inline constexpr double null_accuracy = 1e-8;
inline constexpr int steps_of_null = 1000;

// --- Hinge: cooling -------------------------------------------------------------------------------------------------
inline constexpr double null_temperature = 1e-3;
inline constexpr double first_temperature = 0.25;
inline constexpr double cooling = 0.5;
inline constexpr double last_temperature = 1e-9;
// The next penalty starts a little warmer than the last one ended (rt_polarity, hinge).
inline constexpr double rewarming = 2.0;
// A step that gains less than this share of what the temperature costs is the last one at it.
inline constexpr double gain_beside_warmth = 0.1;
// The share of the gap that violations may cost, at first and at least.
inline constexpr double first_share = 0.1;
inline constexpr double smallest_share = 1e-6;

// --- Hinge: ascent on the dual --------------------------------------------------------------------------------------
// Samples of a block: its kernel matrix stays in the second-level cache (kernel hinge, 5000 samples).
inline constexpr int ascent_block = 512;
// A block is solved until its worst violation is this share of the first, or for so many turns a sample.
inline constexpr double ascent_accuracy = 0.1;
inline constexpr int ascent_turns = 100;
// Where so many turns a sample do not prove it the kernel matrix is too ill-conditioned for single weights (fuzzed: 50
// samples about 1e4, no intercept, 40,000 turns a sample); cooling takes over.
inline constexpr int ascent_most_turns = 2000;
// Curvature of a pair of equal samples, as a share of one's own.
inline constexpr double flat_pair = 1e-12;
// Weight of the constraint on the intercept, as a share of the mean curvature (rt_polarity, hinge).
inline constexpr double intercept_coupling = 0.05;
// Sweeps between two looks at the gap: at least three, and a quarter of those so far.
inline constexpr double sweeps_before_check = 3.0;
inline constexpr double check_share = 0.25;

}  // namespace clearning::tuning
