package main

import (
	"bytes"
	"maps"
	"os"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
	"github.com/package-url/packageurl-go"
)

// billName is the file name of the software bill of materials. Its end tells programs that it is CycloneDX.
const billName = operator + ".cdx.json"

// writeBill writes a software bill of materials: each program, and the modules from which it was built for any platform.
func (r release) writeBill(contents []binary) error {
	var content bytes.Buffer
	encoder := cdx.NewBOMEncoder(&content, cdx.BOMFileFormatJSON).SetPretty(true)
	if err := encoder.EncodeVersion(r.newBill(contents), cdx.SpecVersion1_6); err != nil {
		return err
	}
	return os.WriteFile(r.path(billName), content.Bytes(), 0o644)
}

func (r release) newBill(contents []binary) *cdx.BOM {
	components, uses := map[string]cdx.Component{}, map[string]map[string]bool{}
	for _, b := range contents {
		application := cdx.Component{Type: cdx.ComponentTypeApplication, BOMRef: b.name, Name: b.name, Version: r.version}
		components[b.name] = application
		if uses[b.name] == nil {
			uses[b.name] = map[string]bool{}
		}
		for _, library := range librariesOf(b.info) {
			components[library.BOMRef] = library
			uses[b.name][library.BOMRef] = true
		}
	}
	bill := cdx.NewBOM()
	// The number is the same for each build of a version.
	bill.SerialNumber = uuid.NewSHA1(uuid.NameSpaceURL, []byte(homepage+"@"+r.version)).URN()
	bill.Metadata = &cdx.Metadata{Timestamp: r.time.Format(time.RFC3339), Component: r.product()}
	bill.Components = &[]cdx.Component{}
	for _, ref := range slices.Sorted(maps.Keys(components)) {
		*bill.Components = append(*bill.Components, components[ref])
	}
	bill.Dependencies = dependencies(bill.Metadata.Component.BOMRef, uses)
	return bill
}

// product is the component that the bill describes.
func (r release) product() *cdx.Component {
	url := packageURL("github.com/etcdbench/"+operator, r.version)
	return &cdx.Component{
		Type: cdx.ComponentTypeApplication, BOMRef: url, Name: operator, Version: r.version, PackageURL: url,
		Licenses: &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
	}
}

// librariesOf returns the modules of a program, and Go's standard library.
func librariesOf(info *debug.BuildInfo) []cdx.Component {
	libraries := []cdx.Component{newLibrary("stdlib", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		libraries = append(libraries, newLibrary(module.Path, module.Version))
	}
	return libraries
}

func newLibrary(module, version string) cdx.Component {
	url := packageURL(module, version)
	return cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: url, Name: module, Version: version, PackageURL: url, Scope: cdx.ScopeRequired}
}

// packageURL identifies a Go module in all tools that read such bills.
func packageURL(module, version string) string {
	namespace, name := path.Split(module)
	return packageurl.NewPackageURL(packageurl.TypeGolang, strings.TrimSuffix(namespace, "/"), name, version, nil, "").ToString()
}

// dependencies lists the product's programs, and the modules of each program.
func dependencies(product string, uses map[string]map[string]bool) *[]cdx.Dependency {
	programs := slices.Sorted(maps.Keys(uses))
	all := []cdx.Dependency{{Ref: product, Dependencies: &programs}}
	for _, program := range programs {
		modules := slices.Sorted(maps.Keys(uses[program]))
		all = append(all, cdx.Dependency{Ref: program, Dependencies: &modules})
	}
	return &all
}
