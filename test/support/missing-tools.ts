/**
 * The title of a test that needs a tool. Where the tool is missing, the title states why the test is
 * skipped.
 * @param isThere whether the tool was found on this machine
 */
export function titleNeeding(tool: string, isThere: boolean, title: string): string {
  return isThere ? title : `${title} (skipped: ${tool} is missing)`;
}
