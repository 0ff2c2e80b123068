import { PANEL_API, TOOL_API } from './api-catalog.js';

/** robots.txt (RFC 9309 §2.2): crawlers may read what is published, the links of the APIs too, and have nothing to do within the APIs. */
export function robotsText(): string {
  const rules = [TOOL_API, PANEL_API].flatMap(({ base }) => [`Disallow: ${base}`, `Allow: ${base}$`]);
  return `User-agent: *\n${rules.join('\n')}\nAllow: /\n`;
}
