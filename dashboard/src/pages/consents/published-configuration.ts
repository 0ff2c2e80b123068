type Texts = Readonly<Record<string, string>>;

/** The part of a published configuration that a visitor sees. */
export interface PublishedConfiguration {
  /** Texts of the banner, by language and name. */
  readonly banner: Readonly<Record<string, Texts>>;
  readonly withdrawal: Texts;
  readonly categories: readonly {
    readonly key: string;
    readonly title: Texts;
    readonly purpose: Texts;
    readonly recipients: readonly string[];
  }[];
}

/** Reads the record of a published configuration; null if it has an unknown form. @param text JSON */
export function readPublished(text: string): PublishedConfiguration | null {
  const value: unknown = JSON.parse(text);
  return isPublished(value) ? value : null;
}

function isPublished(value: unknown): value is PublishedConfiguration {
  return (
    isObject(value) &&
    isObject(value.banner) &&
    Object.values(value.banner).every(isTexts) &&
    isTexts(value.withdrawal) &&
    Array.isArray(value.categories) &&
    value.categories.every(
      (one: unknown) =>
        isObject(one) &&
        typeof one.key === 'string' &&
        isTexts(one.title) &&
        isTexts(one.purpose) &&
        Array.isArray(one.recipients),
    )
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is Texts {
  return isObject(value) && Object.values(value).every((text) => typeof text === 'string');
}
