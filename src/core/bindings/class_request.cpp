#include "bindings/class_request.hpp"

#include "bindings/entries.hpp"
#include "bindings/request.hpp"

namespace clearning {

namespace {

// Numbers of classes or groups, 0 to count - 1, as integers.
Columns numbers_of(const char* name, const Flat<double>& given, double count) {
  Columns out(given.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    const double number = given.data()[i];
    if (!(number >= 0.0 && number < count) || number != std::floor(number))
      refuse(name, "must hold whole numbers from 0 up, below their count.");
    out[i] = static_cast<int>(number);
  }
  return out;
}

}  // namespace

ClassRequest::ClassRequest(const nb::dict& given, Index n, Index p) {
  const auto parameters = value<nb::dict>(given, "loss", "a dictionary");
  loss = {positive(parameters, "rho"), finite(parameters, "u"), positive(parameters, "kappa")};
  const int m = value<int>(given, "n_classes", "an integer");
  if (m < 2 || static_cast<Index>(m) * p > std::numeric_limits<int>::max())
    refuse("n_classes", "must be at least 2, and classes times columns below 2147483648.");
  label_ = flat(given, "label", n);
  numbers_of("label", label_, m);
  weight_ = flat(given, "weight", n);
  offset_ = flat(given, "offset", n * m);
  samples = {label_.data(), weight_.data(), offset_.data(), static_cast<std::size_t>(n), m};
  l1_ratio_ = finite(given, "l1_ratio");
  read_groups(given, p);
  read_penalty(given, p);
  settings = settings_of(given);
  grid = grid_of(given);
  if (entry(given, "coef_init").is_none()) return;
  start_b_ = flat(given, "coef_init", p * m);
  start_a_ = flat(given, "intercept_init", m);
  start = {start_b_.data(), start_a_.data()};
}

void ClassRequest::read_groups(const nb::dict& given, Index p) {
  if (entry(given, "groups").is_none()) return;
  group_of_ = numbers_of("groups", flat(given, "groups", p), static_cast<double>(p));
}

void ClassRequest::read_penalty(const nb::dict& given, Index p) {
  Index blocks = p;
  if (is_grouped()) blocks = 1 + *std::max_element(group_of_.begin(), group_of_.end());
  l1_factor_ = vector_of(given, "l1_factor", blocks);
  l2_factor_ = vector_of(given, "l2_factor", blocks);
  if (is_grouped()) return;
  lower_ = vector_of(given, "lower", p * samples.m);
  upper_ = vector_of(given, "upper", p * samples.m);
}

Grouped ClassRequest::grouped() const {
  Grouped out{samples.m, l1_ratio_, l1_factor_, l2_factor_, std::vector<Columns>(l1_factor_.size()), group_of_};
  for (std::size_t j = 0; j < group_of_.size(); ++j) out.members[group_of_[j]].push_back(static_cast<int>(j));
  return out;
}

}  // namespace clearning
