#include "compiler/Schedule/Csv.h"
#include "test/unit/Schedule/Schedules.h"

#include <sstream>

using namespace weft::schedule;

static Schedule read(const std::string &text) {
  std::istringstream in(text);
  Schedule schedule = readCsv(in, "file");
  checkSchedule(schedule);
  return schedule;
}

static std::string write(const Schedule &schedule) {
  std::ostringstream out;
  writeCsv(out, schedule);
  return out.str();
}

static std::string getProblem(const std::string &text) {
  try {
    read(text);
  } catch (const ScheduleError &error) {
    return error.what();
  }
  return "";
}

TEST_CASE("every schedule that the form can hold is read as it was written") {
  for (const NamedSchedule &named : listNamedSchedules()) {
    Spec spec = makeSpec(4, 8, 3, 2, 1, 0);
    spec.recompute = 0;
    Schedule schedule = makeNamed(named.name, spec);
    if (schedule.placement.numPaths > 1)
      continue;
    INFO(named.name);
    Schedule again = read(write(schedule));
    CHECK(again.ranks == schedule.ranks);
    CHECK(again.placement.ranks == schedule.placement.ranks);
  }
}

TEST_CASE("the form is one row a rank, with bubbles as empty cells") {
  Schedule schedule = makeNamed("1f1b", makeSpec(2, 2, 1, 1, 1, 0));
  CHECK(write(schedule) == "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
  Schedule spaced = read("0F0,0F1,,\"0B0\", 0B1 ,\r\n,1F0,1B0,1F1,1B1,\r\n");
  CHECK(spaced.ranks == schedule.ranks);
}

TEST_CASE("a file with messages keeps them") {
  std::string text = "0UNSHARD,0F0,0SEND_F0,0RECV_B0,0I0,0W0,0RESHARD,0REDUCE_GRAD\n"
                     "1UNSHARD,1RECV_F0,1F0,1I0,1SEND_B0,1W0,1RESHARD,1REDUCE_GRAD\n";
  Schedule schedule = read(text);
  CHECK(schedule.ranks[0].size() == 8);
  CHECK(schedule.ranks[1][4] == Action{ActionKind::SendBackward, false, 1, 0, 0});
  CHECK(getProblem("0F0,0SEND_F0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n") ==
        "rank 0: RECV_B of stage 0, microbatch 0 is missing");
}

TEST_CASE("where torch waits for what it has sent nothing is added") {
  Schedule plain = read("0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n");
  Schedule waiting = read("0F0,0SEND_F0,0WAIT_SEND_F0,0RECV_B0,0B0,0REDUCE_GRAD,0WAIT_REDUCE_GRAD\n"
                          "1RECV_F0,1F0,1B0,1SEND_B0,1WAIT_SEND_B0\n");
  waiting.ranks[0].pop_back(); // the reduction
  CHECK(waiting.ranks == plain.ranks);
  CHECK(getProblem("0F0,WAIT_SEND_F0\n").find("row 1 (rank 0), cell 2: 'WAIT_SEND_F0'") == 0);
}

TEST_CASE("pairs run at a time") {
  Schedule schedule = makeNamed("dualpipev", makeSpec(2, 4, 1, 1, 1, 0));
  std::string text = write(schedule);
  CHECK(text.find("OVERLAP_F_B") != std::string::npos);
  CHECK(read(text).ranks == schedule.ranks);
  CHECK(getProblem("0F0,(0F1;0F2)OVERLAP_F_B\n") ==
        "row 1 (rank 0), cell 2: '(0F1;0F2)OVERLAP_F_B': expected a forward F and a backward B or "
        "I at a time");
  CHECK(getProblem("(0F1)OVERLAP_F_B\n") ==
        "row 1 (rank 0), cell 1: '(0F1)OVERLAP_F_B': expected two actions as in "
        "(0F7;7B3)OVERLAP_F_B");
}

TEST_CASE("schedules that torch's form cannot hold are refused") {
  Schedule both = makeNamed("dualpipe", makeSpec(2, 4, 1, 1, 1, 0));
  CHECK_THROWS_WITH(write(both), Catch::Contains("holds every stage on two ranks"));
  Spec spec = makeSpec(2, 4, 1, 1, 1, 0);
  spec.slices = 2;
  CHECK_THROWS_WITH(write(makeNamed("gpipe", spec)), Catch::Contains("no token slices"));
}

TEST_CASE("what a file has wrong is named with its place") {
  CHECK(getProblem("") == "no actions");
  CHECK(getProblem("0F0,0B0\n\n") == "row 2 has no actions");
  CHECK(getProblem("0F0,0B0\n1F0,1X0\n") ==
        "row 2 (rank 1), cell 2: '1X0': no action 'X'; known are F, B, I, W, SEND_F, RECV_F, "
        "SEND_B, RECV_B, UNSHARD, RESHARD, REDUCE_GRAD, (…;…)OVERLAP_F_B");
  CHECK(getProblem("F0\n") ==
        "row 1 (rank 0), cell 1: 'F0': expected <stage><action><microbatch>, as in 2F0");
  CHECK(getProblem("0F\n") ==
        "row 1 (rank 0), cell 1: '0F': expected the number of a microbatch at the end");
  CHECK(getProblem("0F0x\n") ==
        "row 1 (rank 0), cell 1: '0F0x': expected the number of a microbatch at the end");
  CHECK(getProblem("0F99999999999\n") ==
        "row 1 (rank 0), cell 1: '0F99999999999': the number is too large");
  CHECK(getProblem("0F2000000000,0B2000000000\n") == "F of stage 0, microbatch 0 is missing");
  CHECK(getProblem("2000000000F0,2000000000B0\n") ==
        "stage 2000000000 is there, but the file has only 2 actions");
  CHECK(getProblem("0F0,0B0\n0F1,0B1\n") ==
        "row 2 (rank 1): F of stage 0, microbatch 1: the stage is on rank 0 too");
  CHECK(getProblem("0F0,0B0\n2F0,2B0\n") == "stage 1 of 3 is on no rank");
  CHECK(getProblem("0F0,0B0,0F1\n") == "rank 0: B of stage 0, microbatch 1 is missing");
  CHECK(getProblem("0F0,0F0,0B0\n") == "rank 0: F of stage 0, microbatch 0 is there twice");
}

TEST_CASE("files in which B may be either gradient are refused") {
  CHECK(getProblem("0F0,0B0,0W0\n") ==
        "row 1 (rank 0): 0B0 beside 0W0: B is the whole backward, or, in files of torch up to 2.5, "
        "the input gradient; write I for the input gradient");
  CHECK(getProblem("0F0,0BW0\n") ==
        "row 1 (rank 0), cell 2: '0BW0': BW is of torch up to 2.5, where B is the input gradient: "
        "write B for BW, and I for B");
}
