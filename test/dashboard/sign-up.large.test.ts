import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from '../support/chromium.js';
import { figures, secondsSince } from '../support/figures.js';
import { titleNeeding } from '../support/missing-tools.js';
import { type RunningService, TestInstallation } from '../support/running-service.js';
import { PanelBrowser } from './panel-browser.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../dashboard/dist/index.html', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt;

describe.skipIf(!canRun)(titleNeeding('Chromium, or the built dashboard,', canRun, 'a new customer'), () => {
  let installation: TestInstallation;
  let service: RunningService;
  let panel: PanelBrowser;

  beforeAll(async () => {
    installation = await TestInstallation.make({ SIGN_UP: 'open', TRUSTED_PROXIES: '127.0.0.1' });
    service = await installation.start();
    panel = await PanelBrowser.open(chromiumPath ?? '', service.url);
  });
  afterAll(async () => {
    await panel?.close();
    await service?.stop();
    await installation?.remove();
  });

  test('is asked for an organisation, also if the refused renewal of a sign-in is answered first', async () => {
    const answered = (path: string) =>
      panel.page.events('Network.responseReceived').some((event) => JSON.stringify(event).includes(path));
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
    await panel.type('New password', 'a garden of patient tulips');
    await panel.press('Create the account');
    await panel.isAt('Your site and its domain');
    figures('sign-up after a flood', { granted, flooded, customer: secondsSince(begun) });
  });
});
