/**
 * A platform and an OpenID Connect provider for it, both fresh for each test.
 */
import { afterEach, beforeEach } from "vitest";
import type { OidcSettings, SignInSettings } from "../../../src/management/sign-in/settings.ts";
import { startPlatform, type TestPlatform } from "./platform.ts";
import { CLIENT_ID, CLIENT_SECRET, startProvider, type TestProvider } from "./provider.ts";

/** Of the test that runs. */
export let provider: TestProvider;
export let platform: TestPlatform;

/** Starts {@link provider} and {@link platform} for each test of the file, and stops them after it. */
export function freshProvider(): void {
  beforeEach(async () => {
    provider = await startProvider();
    platform = await startPlatform({ oidc: settings() });
  });
  afterEach(async () => {
    await Promise.all([provider.close(), platform.close()]);
  });
}

export function settings(more: OidcSettings = {}): OidcSettings {
  return { issuerUrl: provider.issuer, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, ...more };
}

export function configure(oidc: OidcSettings, more: SignInSettings = {}): void {
  platform.config = { oidc: settings(oidc), ...more };
}
