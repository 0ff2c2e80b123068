import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { chromiumPath } from '../support/chromium.js';
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
    installation = await TestInstallation.make({ SIGN_UP: 'open' });
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
  }, 120_000);
});
