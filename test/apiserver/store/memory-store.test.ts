import { createMemoryStore } from "../../../src/apiserver/store/memory/memory-store.ts";
import { storeSuite } from "../../conformance/store.ts";

storeSuite({ name: "memory store", create: async ({ history }) => createMemoryStore({ history }), runs: 300 });
