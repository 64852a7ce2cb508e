export type { LawCounterExample, LawName, LawReport, LawResult, LawStep, PairReport, PairVerdict, PatchListName } from "./report.ts";
