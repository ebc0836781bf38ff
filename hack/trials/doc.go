// Package trials measures on a real etcd how often comparisons and searches are right. Its tests take long and need an
// idle machine, so they run by hand: make trials.
//
// On two cores of a shared machine, the ratios of 15 rounds of a comparison spread by 9 % (standard deviation). With a
// tolerance of about three times that, 28 %, all 30 comparisons of five rounds were right: 20 without a difference were
// NotRegressed. 10 with 0.25 to 0.28 ms more per put (41 to 55 %) were Regressed, each with the true change in its
// interval.
package trials
