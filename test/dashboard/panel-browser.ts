import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { setAppearance, violationsOf } from '../support/axe.js';
import { ChromiumPage } from '../support/chromium.js';
import { PATIENCE_MS, until } from '../support/wait.js';

/** The folder for a picture of each state; without it, none are taken. */
const { SHOTS } = process.env;
const PHONE = { width: 375, height: 812, deviceScaleFactor: 1, mobile: true };
const DESK = { width: 1280, height: 900, deviceScaleFactor: 1, mobile: false };

const Paused = z.looseObject({ requestId: z.string() });

/** Functions of the page that find controls as a user does: by their names. */
const FINDERS = `
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true }) && element.closest('[inert]') === null;
  const textOf = (element) => element.getAttribute('aria-label') ?? element.textContent.trim();
  const scope = () => [...document.querySelectorAll('[role=dialog],[role=alertdialog]')].at(-1) ?? document;
  const sectionOf = (title) => [...document.querySelectorAll('h2')].find((one) => one.textContent === title)?.closest('section');
  const find = (selector, name, within = scope()) => {
    const found = [...(within?.querySelectorAll(selector) ?? [])].filter(isShown);
    return found.find((element) => textOf(element) === name) ?? found.find((element) => textOf(element).startsWith(name)) ?? null;
  };
  const field = (name) => {
    const label = [...scope().querySelectorAll('label')].filter(isShown).find((one) => one.textContent.trim().startsWith(name));
    return label?.control ?? label?.querySelector('input,select,textarea') ?? find('input,select,textarea', name);
  };
`;

/** The dashboard in a browser of its own, used by the names that a user sees. */
export class PanelBrowser {
  /** Actions of the user, one entry for each button, link, field and choice. */
  readonly steps: string[] = [];

  private constructor(
    readonly page: ChromiumPage,
    readonly url: string,
  ) {}

  /** @param url of the service */
  static async open(executable: string, url: string): Promise<PanelBrowser> {
    const browser = new PanelBrowser(await ChromiumPage.open(executable, ['--lang=en-GB']), url);
    await browser.page.send('Emulation.setDeviceMetricsOverride', DESK);
    // Without motion, so that no colour is in transition when a page is evaluated.
    await setAppearance(browser.page, 'light');
    return browser;
  }

  /** Opens a page by its address, as a bookmark does. @param path below /panel */
  async visit(path: string): Promise<void> {
    await this.page.goto(`${this.url}/panel${path}`);
  }

  /** Runs an expression with the finders above. */
  #run(expression: string): Promise<unknown> {
    return this.page.evaluate(`(() => { ${FINDERS} return ${expression}; })()`);
  }

  /** Waits until a text is on the page. */
  async sees(text: string): Promise<void> {
    await this.#until(`document.body.innerText.includes(${JSON.stringify(text)})`, `the text "${text}"`);
  }

  async doesNotSee(text: string): Promise<void> {
    await this.#until(`!document.body.innerText.includes(${JSON.stringify(text)})`, `no text "${text}"`);
  }

  /** Waits until the heading of the page is this one. */
  async isAt(title: string): Promise<void> {
    await this.#until(`document.querySelector('h1')?.textContent === ${JSON.stringify(title)}`, `the page "${title}"`);
  }

  /** Waits until a frame of the page shows a text, also in a shadow root. */
  async seesInFrame(text: string): Promise<void> {
    const quoted = `"nodeValue":${JSON.stringify(text)}`;
    await this.page.until(async () =>
      JSON.stringify(await this.page.send('DOM.getDocument', { depth: -1, pierce: true })).includes(quoted),
    );
  }

  /** Whether a button or link is offered. */
  async offers(name: string): Promise<boolean> {
    return (await this.#run(`find('button,a,summary', ${JSON.stringify(name)}) !== null`)) === true;
  }

  /** Whether a button is there, and cannot be pressed. */
  async isDisabled(name: string): Promise<boolean> {
    const found = `find('button', ${JSON.stringify(name)})`;
    await this.#until(`${found} !== null`, `the button "${name}"`);
    return (await this.#run(`${found}.disabled`)) === true;
  }

  /** Every button and field of the page's own part, by name: what the user could do here. */
  async controls(): Promise<readonly string[]> {
    const name = `(one) => one.labels?.[0]?.textContent.trim() ?? textOf(one)`;
    const found = `[...document.querySelectorAll('main button, main input, main select, main textarea')].filter(isShown).map(${name})`;
    return z.array(z.string()).parse(await this.#run(found));
  }

  /** The links of the navigation. */
  async navigation(): Promise<readonly string[]> {
    await this.#until(`document.querySelectorAll('#navigation nav a').length > 2`, 'the navigation');
    return z
      .array(z.string())
      .parse(await this.#run(`[...document.querySelectorAll('#navigation nav a')].map(textOf)`));
  }

  /**
   * Presses a button or follows a link, once it is there and enabled.
   * @param section the heading of the part of the page that has it, where several have one
   */
  async press(name: string, section?: string): Promise<void> {
    this.steps.push(`press ${name}`);
    const within = section === undefined ? '' : `, sectionOf(${JSON.stringify(section)})`;
    const found = `find('button,a,summary,[role=menuitem]', ${JSON.stringify(name)}${within})`;
    await this.#until(`${found} !== null && !${found}.disabled`, `the button or link "${name}"`);
    // A press moves the focus first, which ends the entry into a field.
    await this.#run(`${found}.focus()`);
    await this.page.evaluate(`(() => { ${FINDERS} ${found}.click(); })()`, { userGesture: true });
  }

  /**
   * Keeps requests from being sent until they are released.
   * @param urlPattern of the address, with `*` for any characters
   * @returns `came` resolves when a request waits
   */
  async holdBack(urlPattern: string): Promise<{ came(): Promise<void>; release(): Promise<void> }> {
    const held = () => this.page.events('Fetch.requestPaused').map((event) => Paused.parse(event));
    const earlier = held().length;
    await this.page.send('Fetch.enable', { patterns: [{ urlPattern }] });
    const came = () => this.page.until(async () => held().length > earlier);
    return {
      came,
      release: async () => {
        await came();
        for (const { requestId } of held().slice(earlier)) await this.page.send('Fetch.continueRequest', { requestId });
        await this.page.send('Fetch.disable');
      },
    };
  }

  /** Follows the link of the first row of the table. */
  async openFirstRow(): Promise<void> {
    this.steps.push('open the first row');
    await this.#until(`document.querySelector('main tbody a') !== null`, 'a row with a link');
    await this.#run(`document.querySelector('main tbody a').click()`);
  }

  /** Types into a field in place of what it holds. */
  async type(label: string, text: string): Promise<void> {
    this.steps.push(`fill in ${label}`);
    const found = `field(${JSON.stringify(label)})`;
    await this.#until(`${found} !== null`, `the field "${label}"`);
    await this.#run(`(${found}.focus(), ${found}.select())`);
    if (text === '') await this.#run(`document.execCommand('delete')`);
    else await this.page.send('Input.insertText', { text });
  }

  /** Presses a button by the pointer: both halves at the place where the button is now. */
  async pressByMouse(name: string): Promise<void> {
    this.steps.push(`press ${name}`);
    const found = `find('button', ${JSON.stringify(name)})`;
    await this.#until(`${found} !== null`, `the button "${name}"`);
    const at = z
      .object({ x: z.number(), y: z.number() })
      .parse(
        await this.#run(
          `((box) => ({ x: box.x + box.width / 2, y: box.y + box.height - 4 }))(${found}.getBoundingClientRect())`,
        ),
      );
    for (const type of ['mousePressed', 'mouseReleased']) {
      await this.page.send('Input.dispatchMouseEvent', { ...at, type, button: 'left', clickCount: 1 });
      await this.page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
    }
  }

  /** Presses Escape in the dialog that is open, once it has the focus. */
  async escape(): Promise<void> {
    await this.#until('scope() !== document && scope().contains(document.activeElement)', 'the focus in a dialog');
    await this.page.press('Escape');
  }

  /** What a field holds. */
  valueOf(label: string): Promise<unknown> {
    return this.#run(`field(${JSON.stringify(label)})?.value`);
  }

  /** Picks a colour, as the control of the device does. @param name of the field */
  async pickColour(name: string, colour: string): Promise<void> {
    this.steps.push(name);
    await this.#until(`document.querySelector('input[name="${name}"]') !== null`, `the colour "${name}"`);
    const set = `((input) => {
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, '${colour}');
      input.dispatchEvent(new Event('input', { bubbles: true }));
    })(document.querySelector('input[name="${name}"]'))`;
    await this.page.evaluate(set);
  }

  /** Sets a time, as the control of the device does. */
  async pickTime(label: string, time: string): Promise<void> {
    this.steps.push(`fill in ${label}`);
    const found = `field(${JSON.stringify(label)})`;
    await this.#until(`${found} !== null`, `the field "${label}"`);
    await this.#run(
      `(Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(${found}, ${JSON.stringify(time)}), ${found}.dispatchEvent(new Event('input', { bubbles: true })))`,
    );
  }

  /** Chooses an option by its text. */
  async choose(label: string, option: string): Promise<void> {
    this.steps.push(`choose ${option}`);
    const found = `field(${JSON.stringify(label)})`;
    const wanted = `[...${found}.options].find((one) => one.text === ${JSON.stringify(option)})`;
    await this.#until(`${found} !== null && ${wanted} !== undefined`, `"${option}" in the field "${label}"`);
    await this.#run(
      `(Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, 'value').set.call(${found}, ${wanted}.value), ${found}.dispatchEvent(new Event('change', { bubbles: true })))`,
    );
  }

  /** Opens the menu of the user, at the foot of the navigation. */
  async openAccount(): Promise<void> {
    await this.#until(`document.querySelector('.side-foot button') !== null`, 'the button of the user');
    await this.#run(`document.querySelector('.side-foot button').click()`);
    await this.#until(`document.querySelector('.account-menu') !== null`, 'the menu of the user');
  }

  /** Chooses language or appearance in the menu of the user, and closes it. @param label in the language before */
  async prefer(label: string, option: string): Promise<void> {
    await this.openAccount();
    await this.choose(label, option);
    // The page is drawn anew when the texts of a language have come, and a key pressed meanwhile is lost.
    await until(async () => {
      await this.page.press('Escape');
      return (await this.#run(`document.querySelector('.account-menu') === null`)) === true;
    });
  }

  async signOut(): Promise<void> {
    await this.openAccount();
    await this.press('Sign out');
  }

  /** Leaves for another site by the menu above the links of the site. */
  async chooseSite(name: string): Promise<void> {
    const chosen = `document.querySelector('.site-name')?.textContent`;
    await this.#until(`${chosen} !== undefined`, 'the name of the site');
    // The menu lists the others.
    if ((await this.page.evaluate(chosen)) === name) return;
    await this.press('Chosen site:');
    await this.press(name);
  }

  /** Ticks or unticks a box. */
  async tick(label: string): Promise<void> {
    this.steps.push(`tick ${label}`);
    await this.#until(`field(${JSON.stringify(label)}) !== null`, `the box "${label}"`);
    await this.#run(`field(${JSON.stringify(label)}).click()`);
  }

  /** The code that is offered for copying, in the dialog if one is open. */
  async codeShown(): Promise<string> {
    return z.string().parse(await this.#run(`scope().querySelector('pre').textContent`));
  }

  /** The text of the page. */
  async text(): Promise<string> {
    return z.string().parse(await this.page.evaluate('document.body.innerText'));
  }

  /** The text of another page of the browser, once it has a certain text; closes that page. */
  async textOfPage(path: string, awaited: string): Promise<string> {
    const session = await this.page.attachTo(`${this.url}${path}`);
    let text = '';
    await this.page.until(async () => {
      text = z.string().parse(await this.page.evaluate('document.body.innerText', { session }));
      return text.includes(awaited);
    });
    await this.page.send('Page.close', {}, session);
    await this.page.send('Page.bringToFront');
    return text;
  }

  async signIn(email: string, password: string): Promise<void> {
    await this.type('E-mail address', email);
    await this.type('Password', password);
    await this.press('Sign in');
  }

  /**
   * Rules of WCAG 2.2 A and AA and of best practice that the page breaks; those about colours in
   * both appearances. With SHOTS, it keeps pictures for people to look at.
   */
  async violations(name: string): Promise<readonly string[]> {
    const shoot = (look: string, device = DESK) =>
      SHOTS === undefined ? Promise.resolve() : this.#shoot(SHOTS, `${name}-${look}`, device);
    const found = [...(await violationsOf(this.page, name, shoot))];
    const onDesk = z.number().parse(await this.page.evaluate('document.documentElement.scrollWidth'));
    if (onDesk > DESK.width) found.push(`${name}: ${onDesk} px wide in a window of ${DESK.width} px`);
    await this.page.send('Emulation.setDeviceMetricsOverride', PHONE);
    // A phone shows a page that is too wide in a wider viewport: innerWidth grows with it.
    const width = z.number().parse(await this.page.evaluate('document.documentElement.scrollWidth'));
    if (width > PHONE.width) found.push(`${name}: ${width} px wide on a phone of ${PHONE.width} px`);
    await shoot('phone', PHONE);
    await this.page.send('Emulation.setDeviceMetricsOverride', DESK);
    return found;
  }

  /** Moves the focus by the keyboard, until it is on a control whose name begins so. */
  async reach(name: string): Promise<void> {
    await this.page.until(async () => {
      await this.page.press('Tab');
      const focused = await this.page.evaluate(
        'document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent',
      );
      return typeof focused === 'string' && focused.startsWith(name);
    });
  }

  /** Does something in the window of a phone. */
  async onPhone<T>(work: () => Promise<T>): Promise<T> {
    await this.page.send('Emulation.setDeviceMetricsOverride', PHONE);
    const result = await work();
    await this.page.send('Emulation.setDeviceMetricsOverride', DESK);
    return result;
  }

  /** Number of lines of the longest row of the tables, on a phone. */
  async linesOnPhone(): Promise<number> {
    const lines = await this.onPhone(() =>
      this.page.evaluate(`Math.max(...[...document.querySelectorAll('.table tbody tr')].map((row) => {
      const range = document.createRange();
      range.selectNodeContents(row);
      // Words and buttons that overlap in height are on one line; text for screen readers is drawn nowhere.
      const drawn = [...range.getClientRects()].filter(({ width, height }) => width > 1 && height > 1 && height < 45);
      let [lines, end] = [0, -Infinity];
      for (const { top, bottom } of drawn.toSorted((a, b) => a.top - b.top)) {
        if (top >= end - 4) lines += 1;
        end = top >= end - 4 ? bottom : Math.max(end, Math.min(bottom, top + 24));
      }
      return lines;
    }))`),
    );
    return z.number().parse(lines);
  }

  /** Errors and warnings of the browser, for example of the content security policy. */
  logged(): readonly string[] {
    const Entry = z.object({
      entry: z.looseObject({ level: z.string(), text: z.string(), url: z.string().optional() }),
    });
    return this.page
      .events('Log.entryAdded')
      .map((event) => Entry.parse(event).entry)
      .filter(({ text }) => /policy|trusted/i.test(text))
      .map(({ level, text, url }) => `${level}: ${text} ${url ?? ''}`);
  }

  close(): Promise<void> {
    return this.page.close();
  }

  /** Keeps a picture of the whole page. In a window of that height, frames and dialogs are painted where they are. */
  async #shoot(folder: string, name: string, device: typeof DESK): Promise<void> {
    const height = z.number().parse(await this.page.evaluate('document.documentElement.scrollHeight'));
    await this.page.send('Emulation.setDeviceMetricsOverride', { ...device, height: Math.max(height, device.height) });
    await this.page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `${name}.png`), await this.page.screenshot());
    await this.page.send('Emulation.setDeviceMetricsOverride', device);
  }

  /** @throws Error that names what was awaited and shows the page, if it does not come */
  async #until(expression: string, what: string): Promise<void> {
    const end = performance.now() + PATIENCE_MS;
    while ((await this.#run(expression)) !== true) {
      if (performance.now() > end) throw new Error(`${what} did not come. The page:\n${await this.text()}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
}
