import { describe, expect, test } from "vitest";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import { dataStoreEndpoint } from "../../../src/management/config/rules/data-store-endpoint.ts";
import { warnings } from "./parsed.ts";

const mysql = { kind: "mysql", host: "db.example.com", port: 3_306, user: "audit", password: "pw", database: "audit", tls: "off" };

describe("audit.dataStoreEndpoint", () => {
  test.each([
    ["sqlite:///var/lib/audit.db", { kind: "sqlite", path: "/var/lib/audit.db" }],
    ["sqlite:/var/lib/audit.db", { kind: "sqlite", path: "/var/lib/audit.db" }],
    ["sqlite:audit.db", { kind: "sqlite", path: "audit.db" }],
    ["mysql://audit:pw@tcp(db.example.com:3306)/audit", mysql],
    ["mysql://audit:pw@db.example.com/audit", mysql],
    ["mysql://audit:p%40w%2F@db.example.com:3307/audit?tls=true", { ...mysql, password: "p@w/", port: 3_307, tls: "verified" }],
    ["mysql://audit:p%40@w:/@tcp(db.example.com)/audit?tls=skip-verify", { ...mysql, password: "p%40@w:/", tls: "any" }],
    ["mysql://audit@[::1]:3306/audit", { ...mysql, host: "::1", password: "" }],
  ])("%s is taken", (text, meaning) => {
    expect(dataStoreEndpoint(text)).toEqual(meaning);
  });

  test.each([
    ["banana"],
    ["sqlite:"],
    ["sqlite:///var/lib/"],
    ["sqlite://host/audit.db"],
    ["sqlite:///a.db?mode=memory"],
    ["sqlite::memory:"],
    ["sqlite:file:audit.db"],
    ["sqlite:///var/lib/.."],
    ["mysql://db.example.com/audit"],
    ["mysql://audit:pw@db.example.com"],
    ["mysql://audit:pw@db.example.com/"],
    ["mysql://audit:pw@db.example.com:0/audit"],
    ["mysql://audit:pw@db.example.com:99999/audit"],
    ["mysql://audit:%zz@db.example.com/audit"],
    ["mysql://audit:pw@unix(/run/mysqld.sock)/audit"],
    ["mysql://audit:pw@db.example.com/audit?multiStatements=true"],
    ["mysql://audit:pw@db.example.com/a`b"],
    ["mysql://audit:pw@10.0.0.7:3306/audit?tls=true"],
    ["mysql://audit:pw@tcp([::1]:3306)/audit?tls=true"],
    ["postgres://audit:pw@db.example.com/audit"],
    [`mysql://${"a@".repeat(50_000)}`],
  ])("%s is refused with its place and without being quoted", (text) => {
    expect(dataStoreEndpoint(text)).toBeUndefined();
    const result = parseManagementConfig(`audit:\n  dataStoreEndpoint: ${JSON.stringify(text)}\n`, { file: "platform.yaml" });
    expect(result).toMatchObject({
      ok: false,
      problems: [{ file: "platform.yaml", line: 2, column: 22, field: "audit.dataStoreEndpoint" }, {}],
    });
    expect(JSON.stringify(result)).not.toMatch(/banana|:pw|a@a@/);
  });

  test.each(["sqlite:/var/log/audit.log", "sqlite:///var/log/./audit.log", "sqlite:///var/db/../log/audit.log"])(
    "%s is refused where it is the audit file, which would become a database",
    (text) => {
      const result = parseManagementConfig(`audit:\n  enabled: true\n  path: /var/log/audit.log\n  dataStoreEndpoint: ${text}\n`, {
        file: "a",
      });
      expect(result).toMatchObject({ ok: false, problems: [{ line: 4, field: "audit.dataStoreEndpoint" }] });
    },
  );

  test("without the settings that it needs has no effect, which is a warning", () => {
    expect(warnings("audit: {dataStoreTTL: 24}")).toEqual(["CONFIG_VALUE audit.dataStoreTTL: Has no effect without dataStoreEndpoint"]);
    expect(warnings("audit: {dataStoreEndpoint: 'sqlite:/a.db'}")).toEqual([
      "CONFIG_VALUE audit.dataStoreEndpoint: Has no effect without enabled: true",
    ]);
    expect(warnings("audit: {enabled: true, path: /a.log, dataStoreEndpoint: 'sqlite:/a.db', dataStoreTTL: 24}")).toEqual([]);
  });
});
