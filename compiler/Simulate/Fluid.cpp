#include "compiler/Simulate/Fluid.h"

#include <algorithm>
#include <utility>

using namespace weft::sim;

/// What communication leaves of the compute rate at least: its kernels have a bounded number of
/// processors, however many there are.
static constexpr double leastComputeRate = 0.1;

Fluid::Fluid(const Program &program, EventQueue &queue)
    : queue(queue), slots(getNumSlots(program)), running(program.classes.size() * slots),
      loss(program.classes.size()), links(program.links.size()) {}

/// How often more than a link has is asked of it.
static double getExcess(double demand) { return std::max(1.0, demand); }

double Fluid::getRate(int32_t slot) const {
  const Running &run = running[slot];
  if (run.onLinks) {
    double rate = 1;
    for (const LinkUse &use : run.instruction->links)
      rate = std::min(rate, 1 / getExcess(links[use.link].demand));
    return rate;
  }
  if (run.instruction->op != Op::Work)
    return 1;
  return std::max(leastComputeRate, 1 - loss[slot / slots]);
}

void Fluid::schedule(int32_t slot, double now) {
  Running &run = running[slot];
  run.since = now;
  run.rate = getRate(slot);
  queue.push(now + run.remaining / run.rate, slot, ++run.version, false);
}

/// Where the slot's rate has changed, what is left takes another time.
void Fluid::update(int32_t slot, double now) {
  Running &run = running[slot];
  if (!run.instruction || getRate(slot) == run.rate)
    return;
  run.remaining = std::max(0.0, run.remaining - run.rate * (now - run.since));
  schedule(slot, now);
}

void Fluid::setDemand(Link &link, double demand) {
  link.isChanged |= getExcess(demand) != getExcess(link.demand);
  link.demand = demand;
}

/// Tells the users of links of which they get another part now. Most come and go without that:
/// thousands that use a part of a link each would otherwise look at each other.
void Fluid::updateLinks(const Instruction &instruction, double now) {
  for (const LinkUse &use : instruction.links) {
    Link &link = links[use.link];
    if (!std::exchange(link.isChanged, false))
      continue;
    for (int32_t user : link.users)
      update(user, now);
  }
}

void Fluid::enterLinks(int32_t slot, double now) {
  Running &run = running[slot];
  run.onLinks = true;
  run.remaining = run.instruction->linkSeconds;
  for (const LinkUse &use : run.instruction->links)
    setDemand(links[use.link], links[use.link].demand + use.demand);
  updateLinks(*run.instruction, now);
  for (const LinkUse &use : run.instruction->links)
    links[use.link].users.push_back(slot);
  schedule(slot, now);
}

void Fluid::leaveLinks(int32_t slot, double now) {
  const Instruction &instruction = *running[slot].instruction;
  for (const LinkUse &use : instruction.links) {
    Link &link = links[use.link];
    link.users.erase(std::find(link.users.begin(), link.users.end(), slot));
    setDemand(link, link.users.empty() ? 0 : link.demand - use.demand);
  }
  updateLinks(instruction, now);
}

void Fluid::addLoss(int32_t slot, double change, double now) {
  int32_t rankClass = slot / slots;
  int32_t compute = rankClass * slots + static_cast<int32_t>(Stream::Compute);
  if (change == 0 || slot == compute)
    return;
  loss[rankClass] += change;
  update(compute, now);
}

void Fluid::start(int32_t slot, const Instruction &instruction, double now) {
  Running &run = running[slot];
  run.instruction = &instruction;
  run.onLinks = false;
  run.remaining = instruction.seconds;
  addLoss(slot, instruction.loss, now);
  if (instruction.seconds <= 0 && instruction.linkSeconds > 0)
    return enterLinks(slot, now);
  schedule(slot, now);
}

bool Fluid::finish(const Event &event, double now) {
  Running &run = running[event.slot];
  if (!run.instruction || event.version != run.version)
    return false;
  if (!run.onLinks && run.instruction->linkSeconds > 0) {
    enterLinks(event.slot, now);
    return false;
  }
  if (run.onLinks)
    leaveLinks(event.slot, now);
  double loss = run.instruction->loss;
  run.instruction = nullptr;
  addLoss(event.slot, -loss, now);
  return true;
}
