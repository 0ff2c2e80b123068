import { PANEL_API, TOOL_API } from './api-catalog.js';

/**
 * robots.txt (RFC 9309 §2.2): crawlers may read published documents and the links of the APIs, but
 * not the APIs.
 */
export function robotsText(): string {
  const rules = [TOOL_API, PANEL_API].flatMap(({ base }) => [`Disallow: ${base}`, `Allow: ${base}$`]);
  return `User-agent: *\n${rules.join('\n')}\nAllow: /\n`;
}
