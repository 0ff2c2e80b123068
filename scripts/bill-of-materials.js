// Software bill of materials of a bundle, for programs that look for vulnerable parts.

/**
 * @param product the `package.json` of the bundle
 * @param libraries in the bundle, each with name, version and licence
 * @returns a software bill of materials in CycloneDX 1.5. It names no time and no serial number, so
 *   that the same sources give the same text.
 */
export function billOfMaterials({ name, version, license }, libraries) {
  const part = (type, library) => {
    const purl = `pkg:npm/${library.name.replace('@', '%40')}@${library.version}`;
    return {
      type,
      'bom-ref': purl,
      name: library.name,
      version: library.version,
      purl,
      licenses: [{ expression: library.license }],
    };
  };
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: part('application', { name, version, license }) },
    components: libraries.map((library) => part('library', library)),
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}
