//===- ExecEnums.td - the enums of the exec dialect -----------------------===//

#ifndef EXEC_ENUMS_TD
#define EXEC_ENUMS_TD

include "dialects/Support/KeywordEnum.td"

class Exec_Enum<string name, string description, list<I32EnumAttrCase> cases>
    : KeywordEnum<"::weft::exec", name, description, cases>;

def Exec_ArenaKind : Exec_Enum<"ArenaKind", "what an arena holds", [
  I32EnumAttrCase<"Weights", 0, "weights">, I32EnumAttrCase<"State", 1, "state">,
  I32EnumAttrCase<"Activations", 2, "activations">, I32EnumAttrCase<"Communication", 3, "communication">,
  I32EnumAttrCase<"Workspace", 4, "workspace">, I32EnumAttrCase<"Ports", 5, "ports">,
  I32EnumAttrCase<"Host", 6, "host">]>; // states that lie in the host's memory

def Exec_Lifetime : Exec_Enum<"Lifetime", "how long a buffer keeps its bytes", [
  I32EnumAttrCase<"Step", 0, "step">, I32EnumAttrCase<"End", 1, "end">, I32EnumAttrCase<"Uses", 2, "uses">]>;

def Exec_Stream : Exec_Enum<"Stream", "what works on an instruction", [
  I32EnumAttrCase<"Compute", 0, "compute">, I32EnumAttrCase<"Communication", 1, "communication">,
  I32EnumAttrCase<"Copy", 2, "copy">]>; // to and from the host

def Exec_CollectiveKind : Exec_Enum<"CollectiveKind", "what a collective does", [
  I32EnumAttrCase<"AllReduce", 0, "all_reduce">, I32EnumAttrCase<"AllGather", 1, "all_gather">,
  I32EnumAttrCase<"ReduceScatter", 2, "reduce_scatter">, I32EnumAttrCase<"AllToAll", 3, "all_to_all">,
  I32EnumAttrCase<"Permute", 4, "permute">]>;

def Exec_Phase : Exec_Enum<"Phase", "what a schedule entry does", [
  I32EnumAttrCase<"Forward", 0, "forward">, I32EnumAttrCase<"Backward", 1, "backward">,
  I32EnumAttrCase<"Weight", 2, "weight">, I32EnumAttrCase<"Update", 3, "update">]>;

def Exec_Direction : Exec_Enum<"Direction", "which way a port goes", [
  I32EnumAttrCase<"Input", 0, "input">, I32EnumAttrCase<"Output", 1, "output">,
  I32EnumAttrCase<"Gradient", 2, "gradient">]>;

#endif // EXEC_ENUMS_TD
