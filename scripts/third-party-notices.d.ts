export function thirdPartyNotices(name: string, base: string, inputs: readonly string[]): Promise<string>;
