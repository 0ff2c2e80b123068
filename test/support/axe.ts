import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as z from 'zod';
import type { ChromiumPage } from './chromium.js';

const AXE = createRequire(import.meta.url).resolve('axe-core');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** The appearance changes nothing but colours. */
const COLOUR_RULES = ['color-contrast'];
const Texts = z.array(z.string());

/** Lets the page believe that the device has this appearance. */
export async function setAppearance(page: ChromiumPage, scheme: 'light' | 'dark'): Promise<void> {
  const features = [
    { name: 'prefers-color-scheme', value: scheme },
    { name: 'prefers-reduced-motion', value: 'reduce' },
  ];
  await page.send('Emulation.setEmulatedMedia', { features });
}

/**
 * Rules of WCAG 2.2 A and AA and of best practice that a page breaks; those about colours in both
 * appearances. The page is light afterwards.
 * @param shoot called in each appearance
 */
export async function violationsOf(
  page: ChromiumPage,
  name: string,
  shoot: (scheme: 'light' | 'dark') => Promise<void> = async () => undefined,
): Promise<readonly string[]> {
  // A page keeps axe until another document replaces it.
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(`${readFileSync(AXE, 'utf8')}; true`);
  const found: string[] = [];
  for (const scheme of ['light', 'dark'] as const) {
    await setAppearance(page, scheme);
    const options = { runOnly: scheme === 'light' ? RULES : COLOUR_RULES, iframes: false, resultTypes: ['violations'] };
    const title = JSON.stringify(`${name}, ${scheme}`);
    // A colour that is in transition is of neither state.
    const run = `Promise.allSettled(document.getAnimations().map(({ finished }) => finished)).then(() => axe.run(document, ${JSON.stringify(options)})).then(({ violations }) => violations.map(({ id, nodes }) => ${title} + ': ' + id + ': ' + nodes.map(({ target, failureSummary }) => JSON.stringify(target) + failureSummary).join(' | ')))`;
    found.push(...Texts.parse(await page.evaluate(run)));
    await shoot(scheme);
  }
  await setAppearance(page, 'light');
  return found;
}
