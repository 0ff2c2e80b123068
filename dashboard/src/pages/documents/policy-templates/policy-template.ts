/** The text of a new version, with gaps that its writer fills in (`schemas/text/gaps.ts`). */
export interface PolicyTemplate {
  readonly title: string;
  /** Markdown. */
  readonly content: string;
}
