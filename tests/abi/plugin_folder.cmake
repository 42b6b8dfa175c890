# A folder holds the plugins of this build and no other. An older build's plugin would do the work of one whose line of
# CMake was forgotten. Run as: cmake -DFOLDER=folder -DNAMES=a.eggplugin,b.eggplugin -P plugin_folder.cmake
string(REPLACE "," ";" names "${NAMES}")
file(GLOB found RELATIVE ${FOLDER} ${FOLDER}/*.eggplugin)
list(LENGTH found count)
list(REMOVE_ITEM found ${names})
if(found)
  list(JOIN found " and " found)
  message(FATAL_ERROR "${FOLDER} holds ${found}, which no target of this build makes, expected none from an older build; "
                      "remove it, or add its folder to plugins/CMakeLists.txt")
elseif(count EQUAL 0)
  message(FATAL_ERROR "${FOLDER} holds no plugin, expected ${NAMES}; build them first")
endif()
