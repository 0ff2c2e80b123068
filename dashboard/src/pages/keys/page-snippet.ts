/** Returns the line of a page that shows the banner and records the choice. @param service origin of the service */
export function pageSnippet(service: string, key: string): string {
  return `<script src="${service}/sdk/consent.js" data-api-key="${key}"></script>`;
}

/** A script of a page that waits for a permission. */
export const WAITING_SCRIPT = '<script type="text/plain" data-consent="analytics" src="/analytics.js"></script>';
