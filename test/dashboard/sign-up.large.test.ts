import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { chromiumPath } from '../support/chromium.js';
import { figures, secondsSince } from '../support/figures.js';
import { freePort } from '../support/free-port.js';
import { titleNeeding } from '../support/missing-tools.js';
import { type RunningService, TestInstallation } from '../support/running-service.js';
import { PanelBrowser } from './panel-browser.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../dashboard/dist/index.html', import.meta.url)));
const PASSWORD = 'a garden of patient tulips';
const canRun = chromiumPath !== undefined && isBuilt;

describe.skipIf(!canRun)(titleNeeding('Chromium, or the built dashboard,', canRun, 'a new customer'), () => {
  let installation: TestInstallation;
  let service: RunningService;
  let panel: PanelBrowser;

  beforeAll(async () => {
    const port = String(await freePort());
    // Browsers have passkeys for names, not for addresses.
    const PUBLIC_URL = `http://localhost:${port}`;
    installation = await TestInstallation.make({
      SIGN_UP: 'open',
      TRUSTED_PROXIES: '127.0.0.1',
      PORT: port,
      PUBLIC_URL,
    });
    service = await installation.start();
    panel = await PanelBrowser.open(chromiumPath ?? '', PUBLIC_URL);
  });
  afterAll(async () => {
    await panel?.close();
    await service?.stop();
    await installation?.remove();
  });

  test('is asked for an organisation, also if the refused renewal of a sign-in is answered first', async () => {
    const answered = (path: string) =>
      panel.page.events('Network.responseReceived').some((event) => JSON.stringify(event).includes(path));
    // As a browser whose sign-in has expired; another one asks for no renewal.
    await panel.visit('/reset-password');
    await panel.page.evaluate(`localStorage.setItem('consent-ledger-panel:signed-in', '')`);
    const heldBack = await panel.holdBack('*/api/v1/auth/options');
    await panel.visit('/sign-up');
    await heldBack.came();
    await panel.page.until(async () => answered('/api/v1/auth/refresh'));
    await panel.sees('Loading');
    await panel.page.evaluate('new Promise((resolve) => setTimeout(resolve, 200))');
    await heldBack.release();
    await panel.sees('Name of your organisation');
  });

  test('gets an account after 500 sign-ups of 100 addresses, within seconds', async () => {
    const start = performance.now();
    const signUp = async (i: number): Promise<number> => {
      const response = await fetch(`${service.url}/api/v1/auth/sign-up`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': `203.0.113.${i % 100}` },
        body: JSON.stringify({ organisation: 'Flood', email: `flood-${i}@flood.example` }),
      });
      await response.arrayBuffer();
      return response.status;
    };
    const statuses: number[] = [];
    for (let i = 0; i < 500; i += 10) {
      statuses.push(...(await Promise.all(Array.from({ length: 10 }, (_, j) => signUp(i + j)))));
    }
    const granted = statuses.filter((status) => status === 202).length;
    expect(statuses.filter((status) => status === 422).length).toBe(500 - granted);
    // Those that ask at the same time as the last free one are not counted yet.
    expect(granted).toBeLessThan(60);
    const flooded = secondsSince(start);
    // As if the program had proved the work for 450 more: the most that a customer ever has to prove.
    const database = new pg.Client({ connectionString: installation.env.DATABASE_URL });
    await database.connect();
    await database.query(
      'insert into sign_up_requests (address_digest) select sha256(int4send(n)) from generate_series(1, 450) n',
    );
    await database.end();
    await panel.visit('/sign-up');
    const begun = performance.now();
    await panel.type('Name of your organisation', 'Florist Ltd');
    await panel.type('E-mail address', 'owner@florist.example');
    await panel.press('Continue');
    await panel.isAt('Choose your password');
    await panel.type('New password', PASSWORD);
    await panel.press('Create the account');
    await panel.isAt('Your site and its domain');
    figures('sign-up after a flood', { granted, flooded, customer: secondsSince(begun) });
  });

  /** Plugs an authenticator into the browser. @param canVerify whether it asks for a PIN, a fingerprint or a face */
  const plugIn = async (transport: 'internal' | 'usb', canVerify: boolean): Promise<string> => {
    const { authenticatorId } = await panel.page.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport,
        // Browsers keep no discoverable passkey on a key that verifies nobody.
        hasResidentKey: canVerify,
        hasUserVerification: canVerify,
        isUserVerified: canVerify,
        automaticPresenceSimulation: true,
      },
    });
    return z.string().parse(authenticatorId);
  };

  test('adds passkeys, and signs in with them alone and after the password', async () => {
    await panel.page.send('WebAuthn.enable');
    const device = await plugIn('internal', true);
    await panel.visit('/profile');
    await panel.sees('You have no passkey.');
    await panel.press('Add a passkey');
    await panel.type('Name', 'Office laptop');
    await panel.type('Current password', 'not my password');
    expect(await panel.violations('passkey-add')).toEqual([]);
    await panel.press('Add a passkey');
    await panel.sees('This is not your current password.');
    await panel.type('Current password', PASSWORD);
    await panel.press('Add a passkey');
    await panel.sees('Your recovery codes');
    const [, code = ''] = (await panel.codeShown()).split('\n');
    await panel.press('I have kept the codes');
    await panel.sees('Office laptop');
    await panel.sees('With your password, a passkey or a recovery code is required.');
    expect(await panel.violations('passkeys')).toEqual([]);
    await panel.signOut();
    await panel.isAt('Sign in');
    await panel.sees('Sign in with a passkey');
    expect(await panel.violations('sign-in-passkey')).toEqual([]);
    await panel.reach('Sign in with a passkey');
    await panel.page.press('Enter');
    await panel.isAt('Your profile');

    // A recovery code proves the second factor where the device is not at hand.
    await panel.page.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId: device });
    await panel.press('Replace the recovery codes');
    await panel.type('Current password', PASSWORD);
    await panel.type('Code of the app', '000000');
    await panel.press('Replace the recovery codes');
    await panel.sees('This code is wrong, or was used before.');
    await panel.press('Cancel');
    const key = await plugIn('usb', false);
    await panel.press('Add a passkey');
    await panel.type('Name', 'Key ring');
    await panel.type('Current password', PASSWORD);
    await panel.type('Code of your app', code);
    await panel.press('Add a passkey');
    await panel.sees('Second factor only');
    await panel.signOut();
    await panel.isAt('Sign in');
    await panel.signIn('owner@florist.example', PASSWORD);
    await panel.sees('Use a passkey');
    expect(await panel.violations('sign-in-second-passkey')).toEqual([]);
    await panel.press('Use a passkey');
    await panel.isAt('Your profile');
    await panel.press('Actions: Key ring');
    await panel.press('Rename the passkey');
    await panel.type('Name', 'Spare key');
    await panel.press('Rename the passkey');
    await panel.sees('Spare key');
    // The passkey proves the second factor before an app is added.
    await panel.press('Add a second factor');
    await panel.type('Current password', PASSWORD);
    await panel.sees('Leave it empty to use a passkey.');
    await panel.press('Add a second factor');
    await panel.sees('Scan this picture');
    await panel.press('Cancel');
    await panel.press('Actions: Office laptop');
    await panel.press('Remove the passkey');
    await panel.type('Current password', PASSWORD);
    expect(await panel.violations('passkey-remove')).toEqual([]);
    await panel.press('Remove the passkey');
    await panel.doesNotSee('Office laptop');
    await panel.prefer('Language', 'Türkçe');
    await panel.sees('Yalnızca ikinci adım');
    expect(await panel.violations('passkeys-tr')).toEqual([]);
    await panel.page.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId: key });
  });
});
