//lint:file-ignore SA1019 Grafana 10 and 11 read only this schema.

package main

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/statetimeline"
	"github.com/grafana/grafana-foundation-sdk/go/text"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// Sizes of panels. A dashboard has 24 columns.
const (
	half      = 12
	quarter   = 6
	height    = 8
	lowHeight = 4
)

// Units of Grafana.
const (
	unitSeconds   = "s"
	unitPerSecond = "reqps"
	unitCount     = "short"
	unitBytes     = "bytes"
	unitTime      = "dateTimeFromNow"
)

// query is one query of a panel, with the legend of its series.
type query struct{ expression, legend string }

// datasource is the Prometheus that the reader of the dashboard selects.
func datasource() common.DataSourceRef {
	return common.DataSourceRef{Type: cog.ToPtr("prometheus"), Uid: cog.ToPtr("${datasource}")}
}

func target(q query) *prometheus.DataqueryBuilder {
	return prometheus.NewDataqueryBuilder().Datasource(datasource()).Expr(q.expression).LegendFormat(q.legend).Range()
}

// graph is a panel with lines over time.
func graph(title, description, unit string, queries ...query) *timeseries.PanelBuilder {
	p := timeseries.NewPanelBuilder().Title(title).Description(description).Datasource(datasource()).
		Unit(unit).Min(0).Span(half).Height(height).ShowPoints(common.VisibilityModeAuto).
		Legend(common.NewVizLegendOptionsBuilder().ShowLegend(true).DisplayMode(common.LegendDisplayModeList).Placement(common.LegendPlacementBottom)).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending))
	for i, q := range queries {
		p.WithTarget(target(q).RefId(string(rune('A' + i))))
	}
	return p
}

// logarithmic is for latencies, which span decades.
func logarithmic(p *timeseries.PanelBuilder) *timeseries.PanelBuilder {
	return p.ScaleDistribution(common.NewScaleDistributionConfigBuilder().Type(common.ScaleDistributionLog).Log(10))
}

// stacked adds up the lines.
func stacked(p *timeseries.PanelBuilder) *timeseries.PanelBuilder {
	return p.FillOpacity(30).Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal).Group("A"))
}

// number is a panel with the last value of each series.
func number(title, description, unit string, queries ...query) *stat.PanelBuilder {
	p := stat.NewPanelBuilder().Title(title).Description(description).Datasource(datasource()).
		Unit(unit).Span(quarter).Height(lowHeight).ColorMode(common.BigValueColorModeNone).GraphMode(common.BigValueGraphModeNone).
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"}))
	for i, q := range queries {
		p.WithTarget(target(q).RefId(string(rune('A' + i))))
	}
	return p
}

// states is a panel that shows when a value was 0 and when it was 1.
func states(title, description, zero, one string, q query) *statetimeline.PanelBuilder {
	return statetimeline.NewPanelBuilder().Title(title).Description(description).Datasource(datasource()).
		Span(half).Height(height).ShowValue(common.VisibilityModeNever).FillOpacity(80).
		Mappings([]dashboard.ValueMapping{{ValueMap: &dashboard.ValueMap{
			Type: dashboard.MappingTypeValueToText,
			Options: map[string]dashboard.ValueMappingResult{
				"0": {Text: cog.ToPtr(zero), Color: cog.ToPtr("blue"), Index: cog.ToPtr[int32](0)},
				"1": {Text: cog.ToPtr(one), Color: cog.ToPtr("orange"), Index: cog.ToPtr[int32](1)},
			},
		}}}).
		WithTarget(target(q).RefId("A"))
}

// heat is a panel with the buckets of a histogram over time.
func heat(title, description string, histogram series) *heatmap.PanelBuilder {
	return heatmap.NewPanelBuilder().Title(title).Description(description).Datasource(datasource()).
		Span(half).Height(height).Calculate(false).
		YAxis(heatmap.NewYAxisConfigBuilder().Unit(unitSeconds)).
		Color(heatmap.NewHeatmapColorOptionsBuilder().Mode(heatmap.HeatmapColorModeScheme).Scheme("Cividis").Steps(64)).
		WithTarget(target(query{buckets(histogram), "{{le}}"}).Format(prometheus.PromQueryFormatHeatmap).RefId("A"))
}

// note is a panel with text.
func note(markdown string) *text.PanelBuilder {
	return text.NewPanelBuilder().Title("").Mode(text.TextModeMarkdown).Content(markdown).Transparent(true).Span(2 * half).Height(3)
}

// page is a dashboard with a choice of the data source.
func page(uid, title, description string) *dashboard.DashboardBuilder {
	return dashboard.NewDashboardBuilder(title).Uid(uid).Description(description).
		Tags([]string{"etcd-benchmark-operator"}).Timezone("utc").Readonly().
		Tooltip(dashboard.DashboardCursorSyncCrosshair).
		WithVariable(dashboard.NewDatasourceVariableBuilder("datasource").Label("Data source").Type("prometheus"))
}

// choice is a variable with the values of a label.
func choice(name, label string, of series, labelName string) *dashboard.QueryVariableBuilder {
	text := "label_values(" + of.String() + ", " + labelName + ")"
	return dashboard.NewQueryVariableBuilder(name).Label(label).Datasource(datasource()).
		Query(dashboard.StringOrMap{String: &text}).Definition(text).
		Refresh(dashboard.VariableRefreshOnTimeRangeChanged).Sort(dashboard.VariableSortAlphabeticalAsc)
}
